import { boolean, field, isObject, number, object, string, ThroughlineError } from '#base'
import type { JsonObject } from '#base'
import type { StartOptions } from '#drivers'
import { isSessionId } from '#wire'
import type { PermissionMode } from '#model'
import { findMode } from '#model'

/** What a host is told when it is started, on its standard input: nothing of it is in its command line. */
export interface HostOrder {
  readonly home: string
  readonly sessionId: string
  /** Names the driver. */
  readonly agent: string
  readonly workdir: string
  /** What only this driver wants to know. */
  readonly settings?: JsonObject | undefined
  /** As the session had it, or `default`, where it is not given. */
  readonly mode?: PermissionMode | undefined
  /** How far the mode may be widened, as the local configuration says. */
  readonly widest?: PermissionMode | undefined
  readonly model?: string | undefined
  readonly resume?: StartOptions['resume']
  /** `own`: what is read of it is what its agent writes itself, and nothing is recorded beside that. */
  readonly transcript?: 'own' | undefined
  readonly trusted: boolean
  /** The hash of what the folder would load, as the person saw it who trusted it. For the record. */
  readonly folderHash?: string | undefined
  /** What the agent sees of the environment. */
  readonly env: Readonly<Record<string, string>>
  /** After how long without anything happening the session ends. Never where it is not given. */
  readonly idleMs?: number | undefined
  /** After how long without a daemon the session ends; one hour where it is not given. */
  readonly orphanMs?: number | undefined
  /** How long an attention stays open. For ever where it is not given. */
  readonly deadlineMs?: number | undefined
}

/** Reads an order. Throws `request-invalid` when it is none. */
export function getHostOrder(value: unknown): HostOrder {
  const home = string(value, 'home')
  const sessionId = string(value, 'sessionId')
  const agent = string(value, 'agent')
  const workdir = string(value, 'workdir')
  const env = readEnv(object(value, 'env'))
  if (home === undefined || agent === undefined || workdir === undefined) throw invalid('a part is missing')
  if (sessionId === undefined || !isSessionId(sessionId)) throw invalid('this is no id of a session')
  const mode = field(value, 'mode')
  if (mode !== undefined && findMode(mode) === undefined) throw invalid('there is no such mode')
  return {
    home,
    sessionId,
    agent,
    workdir,
    settings: object(value, 'settings'),
    mode: findMode(mode),
    widest: findMode(field(value, 'widest')),
    model: string(value, 'model'),
    resume: readResume(field(value, 'resume')),
    transcript: string(value, 'transcript') === 'own' ? 'own' : undefined,
    trusted: boolean(value, 'trusted') ?? false,
    folderHash: string(value, 'folderHash'),
    env,
    idleMs: number(value, 'idleMs'),
    orphanMs: number(value, 'orphanMs'),
    deadlineMs: number(value, 'deadlineMs'),
  }
}

function readEnv(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  )
}

function readResume(value: unknown): HostOrder['resume'] {
  const sessionId = string(value, 'sessionId')
  if (sessionId === undefined) return undefined
  const fork = object(value, 'fork')
  const at = string(fork, 'at')
  const prompts = number(value, 'prompts')
  return {
    sessionId,
    ...(prompts === undefined ? {} : { prompts }),
    ...(fork === undefined ? {} : { fork: at === undefined ? {} : { at } }),
  }
}

function invalid(why: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `a host cannot be started with this: ${why}`, {
    hint: 'This is a fault of whoever starts it.',
  })
}
