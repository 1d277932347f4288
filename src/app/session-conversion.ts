import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { ThroughlineError } from '#base'
import type { CompactionRecord, Entry, NativeAgent, SessionSummary } from '#model'
import { toNativeSession, writeNative, type NativeRoots, type Said, type SaidMessage } from '#restore'
import type { ConvertOutcome, ConvertRequest, LineageLink } from '#wire'
import type { LineageLog } from './lineage-log.ts'
import { checkWritten, findLosses, type ReadWritten } from './written-check.ts'

/** What is to be known of a session that is written anew. */
export type ConvertedSession = Pick<SessionSummary, 'id' | 'agent' | 'name' | 'workdirs' | 'createdAt'>

export interface ConversionOptions extends ConvertRequest {
  /** How the new session came to be. Default: `converted`. */
  readonly kind?: LineageLink['kind'] | undefined
  readonly home: string
  /** The machine that the session is on, when that is another one. */
  readonly origin?: LineageLink['origin']
  /** Where agents keep their sessions. */
  readonly roots: NativeRoots
  /** Runs a command in a folder, for agents that take a session in by one. */
  readonly run: (command: readonly string[], workdir: string) => Promise<void>
  /** The model to go on with in opencode, which would go on with that of the conversation and may not have it. */
  readonly opencodeModel?: ((workdir: string) => string | undefined) | undefined
  readonly lineage: LineageLog
  /** Reads a session that was written for an agent. Default: it is believed to be where it was written. */
  readonly readWritten?: ReadWritten | undefined
  /** Something new is on disk: look. */
  readonly onWritten: () => Promise<void>
  readonly now: () => number
  /** Tells apart what is made of the same conversation on purpose more than once. */
  readonly edition?: string | undefined
}

/** What is said of a session: its entries, what the model is told, and the compaction of ours that it begins with. */
export interface Saying {
  readonly entries: readonly Entry[]
  readonly said: Said
  readonly active?: CompactionRecord | undefined
}

/** Writes a session as a native one of an agent. The same session gives the same one, until it goes on. */
export async function convertSession(
  session: ConvertedSession,
  saying: Saying,
  options: ConversionOptions,
): Promise<ConvertOutcome> {
  const { to, dryRun = false, workdir, lineage } = options
  const { entries, active } = saying
  if (saying.said.messages.length === 0) throw nothingSaid(session, to)
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
  const goOnWith = to === 'opencode' ? options.opencodeModel?.(here) : undefined
  const said = withMove(saying.said, workdir === undefined ? undefined : session.workdirs[0], here)
  const native = toNativeSession(to, said, {
    source: { agent: session.agent, sessionId: session.id },
    workdir: here,
    created: session.createdAt ?? now,
    title: session.name,
    model: entries.findLast((entry) => entry.kind === 'reply')?.model,
    branch: last?.gitBranch,
    timeOf: (entryId) => times.get(entryId),
    goOnWith,
    // What is made of it differs with where it goes on and with what, and with what was compacted.
    edition: [last?.id, here, active?.id, goOnWith, options.edition]
      .filter((part) => part !== undefined)
      .join(' '),
  })
  const losses = await findLosses(native, said)
  const outcome = {
    agent: to,
    sessionId: native.id,
    losses,
    command: native.resume,
    workdir: native.workdir,
  }
  if (dryRun) return { ...outcome, isWritten: false }
  const descent = {
    kind: options.kind ?? 'converted',
    at: now,
    from: { ...native.lineage.from, ...(options.origin === undefined ? {} : { origin: options.origin }) },
    to: { sessionId: native.id, agent: to },
    until: native.until,
  }
  lineage.expect(descent)
  const written = await writeNative(native, { ...options.roots, opencode: join(options.home, 'native') })
  // Also when the file was there: that it was taken in nobody knows, and a second time changes nothing.
  if (written.takeIn !== undefined) await options.run(written.takeIn, native.workdir)
  await lineage.add(descent)
  await options.onWritten()
  if (options.readWritten !== undefined) await checkWritten(native, { said, losses }, options.readWritten)
  return { ...outcome, isWritten: true }
}

function nothingSaid({ id }: ConvertedSession, to: NativeAgent): ThroughlineError {
  return new ThroughlineError('request-invalid', `session ${id} has no messages to continue from`, {
    hint: `Start a new session instead: throughline run --agent ${to}.`,
  })
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
