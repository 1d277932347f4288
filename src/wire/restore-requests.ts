import { boolean, number, string, ThroughlineError, type JsonObject } from '#base'
import { NATIVE_AGENTS, TARGETS, type NativeAgent, type Target } from '#model'
import type { CompactRequest, ConvertRequest, ForkCopyRequest } from './restore-calls.ts'

/** Longer than any path that a system takes. */
const LONGEST_PATH = 4096
const LONGEST_ID = 256
const MOST_TURNS = 100_000

/** Every reader here throws `request-invalid` for a value that cannot be meant, and names it. */
export function readTarget(text: string | null | undefined): Target {
  if (text === null || text === undefined || text === '') return 'anthropic'
  return getKnown(text, TARGETS, 'to')
}

export function readCompactRequest(body: JsonObject): CompactRequest {
  const keepTurns = number(body, 'keepTurns')
  const isCount =
    keepTurns !== undefined && Number.isInteger(keepTurns) && keepTurns >= 1 && keepTurns <= MOST_TURNS
  if (body['keepTurns'] !== undefined && !isCount)
    throw invalid('keepTurns', 'Give a number of turns from 1 on.')
  const by =
    body['by'] === undefined
      ? undefined
      : getKnown(string(body, 'by') ?? '', ['extract', 'agent'] as const, 'by')
  return {
    ...(keepTurns === undefined ? {} : { keepTurns }),
    ...(by === undefined ? {} : { by }),
  }
}

export function readConvertRequest(body: JsonObject): ConvertRequest {
  const to = readNativeAgent(string(body, 'to') ?? '')
  return {
    to,
    ...readWorkdir(body),
    ...(boolean(body, 'dryRun') === true ? { dryRun: true } : {}),
  }
}

export function readForkCopyRequest(body: JsonObject): ForkCopyRequest {
  const at = string(body, 'at')
  if (body['at'] !== undefined && (at === undefined || at === '' || at.length > LONGEST_ID))
    throw invalid('at', 'Give the id of an entry.')
  return { ...(at === undefined ? {} : { at }), ...readWorkdir(body) }
}

function readWorkdir(body: JsonObject): { readonly workdir?: string } {
  const workdir = string(body, 'workdir')
  if (body['workdir'] === undefined) return {}
  if (workdir === undefined || workdir === '' || workdir.length > LONGEST_PATH)
    throw invalid('workdir', 'Give the path of a folder.')
  return { workdir }
}

export function readNativeAgent(text: string): NativeAgent {
  return getKnown(text, NATIVE_AGENTS, 'to')
}

function getKnown<Name extends string>(text: string, known: readonly Name[], what: string): Name {
  const found = known.find((name) => name === text)
  if (found === undefined) throw invalid(what, `Give one of ${known.join(', ')}.`)
  return found
}

function invalid(what: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `${what} has a value that cannot be meant`, { hint })
}
