import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { ThroughlineError } from '#base'
import type { Entry, SessionSummary } from '#model'
import { toNativeSession, writeNative, type NativeRoots, type Said, type SaidMessage } from '#restore'
import {
  NATIVE_AGENTS,
  type ConvertOutcome,
  type ConvertRequest,
  type LineageLink,
  type NativeAgent,
} from '#wire'
import type { LineageLog } from './lineage-log.ts'

/** What is to be known of a session that is written anew. */
export type ConvertedSession = Pick<SessionSummary, 'id' | 'agent' | 'name' | 'workdirs' | 'createdAt'>

export interface ConversionOptions extends ConvertRequest {
  /** How the new session came to be. Default: `converted`. */
  readonly kind?: LineageLink['kind'] | undefined
  readonly home: string
  /** Where agents keep their sessions. */
  readonly roots: NativeRoots
  /** Runs a command in a folder, for agents that take a session in by one. */
  readonly run: (command: readonly string[], workdir: string) => Promise<void>
  readonly lineage: LineageLog
  readonly now: () => number
}

/** Writes a session as a native one of an agent. The same session gives the same one, until it goes on. */
export async function convertSession(
  session: ConvertedSession,
  { entries, said }: { readonly entries: readonly Entry[]; readonly said: Said },
  options: ConversionOptions,
): Promise<ConvertOutcome> {
  const { to, dryRun = false, workdir, lineage } = options
  const now = new Date(options.now()).toISOString()
  const folder = workdir ?? session.workdirs.at(-1) ?? entries.findLast(({ cwd }) => cwd !== undefined)?.cwd
  if (folder === undefined || !existsSync(folder)) {
    throw new ThroughlineError('folder-not-found', `the folder ${folder ?? 'of the session'} is not there`, {
      hint: 'Name the folder to go on in: --workdir <folder>.',
    })
  }
  const times = new Map(entries.map((entry) => [entry.id, entry.at]))
  const last = entries.at(-1)
  const here = await realpath(folder)
  const native = toNativeSession(
    to,
    withMove(said, workdir === undefined ? undefined : session.workdirs[0], here),
    {
      source: { agent: session.agent, sessionId: session.id },
      workdir: here,
      created: session.createdAt ?? now,
      title: session.name,
      model: entries.findLast((entry) => entry.kind === 'reply')?.model,
      branch: last?.gitBranch,
      timeOf: (entryId) => times.get(entryId),
      edition: last?.id,
    },
  )
  const outcome = {
    agent: to,
    sessionId: native.id,
    losses: native.losses,
    command: native.resume,
    workdir: native.workdir,
  }
  if (dryRun) return { ...outcome, isWritten: false }
  const written = await writeNative(native, { ...options.roots, opencode: join(options.home, 'native') })
  if (written.takeIn !== undefined && written.state === 'written')
    await options.run(written.takeIn, native.workdir)
  const { from } = native.lineage
  await lineage.add({
    kind: options.kind ?? 'converted',
    at: now,
    from,
    to: { sessionId: native.id, agent: to },
  })
  return { ...outcome, isWritten: true }
}

/** Tells the model that its folder is another one now: what it said before names the old one. */
function withMove(said: Said, before: string | undefined, here: string): Said {
  const message = said.messages.at(-1)
  const last = message?.blocks.at(-1)
  if (before === undefined || before === here || message === undefined || last === undefined) return said
  const text = `[This session was moved: its folder was ${before} and is ${here} now.]`
  const origin = last.origin
  const block = { block: { kind: 'text', text } as const, exact: { type: 'text', text }, origin }
  const why = 'a line is added that names the new folder'
  const messages: readonly SaidMessage[] =
    message.role === 'user'
      ? [...said.messages.slice(0, -1), { ...message, blocks: [...message.blocks, block] }]
      : [...said.messages, { role: 'user', blocks: [block], provider: 'unknown' }]
  return { ...said, messages, losses: [...said.losses, { kind: 'context', origin, how: 'added', why }] }
}

/** Whether sessions can be written for an agent of this name. */
export function isNativeAgent(name: string): name is NativeAgent {
  return NATIVE_AGENTS.some((known) => known === name)
}
