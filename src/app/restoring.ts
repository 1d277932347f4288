import { existsSync } from 'node:fs'
import { ThroughlineError } from '#base'
import { countTokens } from '#memory'
import {
  isNativeAgent,
  type CompactionRecord,
  type Entry,
  type SessionSummary,
  type Trouble,
  type Turn,
} from '#model'
import {
  findTroubles,
  needsCompaction,
  restore,
  toCompactedSaid,
  toContextNow,
  toCompaction,
  toRepaired,
  toSaid,
  toTarget,
  type Gaps,
  type NativeRoots,
  type Restored,
} from '#restore'
import type {
  CompactRequest,
  CompactionState,
  Preflight,
  RepairOutcome,
  RestoreCalls,
  RestoredSession,
} from '#wire'
import { createCompactionLog } from './compaction-log.ts'
import { convertSession, type Saying } from './session-conversion.ts'
import { readLargeCompaction } from './large-compaction.ts'
import { forkSession } from './forked-session.ts'
import { createLineageLog, type LineageLog } from './lineage-log.ts'
import { windowIn } from './model-windows.ts'
import { writeRepaired } from './repaired-file.ts'
import { readEntries, readLastEntries, readSession } from './session-entries.ts'
import type { ReadWritten } from './written-check.ts'

export interface RestoringOptions {
  readonly home: string
  readonly get: (query: string) => Promise<SessionSummary>
  /** Default: that of the home. */
  readonly lineage?: LineageLog
  /** Where agents keep their sessions. */
  readonly roots: NativeRoots
  /** Runs a command in a folder, for agents that take a session in by one. */
  readonly run: (command: readonly string[], workdir: string) => Promise<void>
  /** Reads a session that was written for an agent. Default: it is believed. */
  readonly readWritten?: ReadWritten | undefined
  /** The model to go on with in opencode. */
  readonly opencodeModel?: ((workdir: string) => string | undefined) | undefined
  /** Asks the session's own agent for a summary of what it is given. */
  readonly summarise?: ((session: SessionSummary, text: string) => Promise<string>) | undefined
  /** Something new is on disk: look. */
  readonly onWritten: () => Promise<void>
  readonly mintId: () => string
  readonly now: () => number
}

/** From here on a session is not held in memory to be compacted. */
const LARGE_BYTES = 64 * 1024 * 1024

/** Going on with sessions. */
export function createRestoring(options: RestoringOptions): RestoreCalls {
  const compactions = createCompactionLog(options.home)
  const { lineage = createLineageLog(options.home) } = options
  const at = (): string => new Date(options.now()).toISOString()

  /** What the model would be told, and the compaction of ours that it begins with. */
  async function sayOf(session: SessionSummary): Promise<Saying & { readonly gaps: Gaps }> {
    const { active } = await compactions.read(session.id)
    // A session that was too large to be held when it was compacted is too large now.
    const from = session.size > LARGE_BYTES ? active?.keptFrom : undefined
    const gaps = await readSession(session.path, from)
    const { entries } = gaps
    return {
      entries,
      gaps,
      active,
      said: active === undefined ? toSaid(entries, gaps) : toCompactedSaid(active, entries, gaps),
    }
  }

  return {
    async restore(sessionId, target) {
      const session = await options.get(sessionId)
      const { entries, said, active, gaps } = await sayOf(session)
      const restored = restore(entries, target, gaps)
      if (active === undefined) return toRestoredSession(session.id, restored, active)
      // What was compacted here is in neither the window nor the turns.
      const tokens = { ...restored.tokens, context: toContextNow(entries, active, countTokens) }
      const turns = turnsKept(restored.turns, entries, active)
      return toRestoredSession(session.id, { ...restored, ...toTarget(said, target), tokens, turns }, active)
    },

    async preflight(sessionId) {
      const session = await options.get(sessionId)
      const { active } = await compactions.read(session.id)
      if (session.size > LARGE_BYTES && active === undefined) return await preflightOfLarge(session)
      const { entries } = await sayOf(session)
      return toPreflight(session, entries, active)
    },

    async repair(sessionId) {
      const session = await options.get(sessionId)
      const entries = await readEntries(session.path)
      const window = windowIn(entries)
      const troubles = findTroubles(entries, { window, hasFolder: existsSync, agent: session.agent })
      if (!troubles.some(({ mend }) => mend !== undefined)) return { mended: [], left: troubles }
      if (session.agent !== 'claude') return await repairByWriting(session, entries, troubles)
      const id = options.mintId()
      const repaired = toRepaired(entries, troubles, { sessionId: id, mintId: options.mintId })
      const descent = {
        kind: 'repaired',
        at: at(),
        from: { sessionId: session.id, agent: session.agent },
        to: { sessionId: id, agent: session.agent },
        until: entries.findLast((entry) => entry.at !== undefined)?.at,
      } as const
      lineage.expect(descent)
      const { command } = await writeRepaired(session, id, repaired.lines)
      await lineage.add(descent)
      await options.onWritten()
      return { sessionId: id, mended: repaired.mended, left: repaired.left, command }
    },

    async compact(sessionId, request = {}) {
      const session = await options.get(sessionId)
      const how = toHow(session, request)
      const record =
        session.size > LARGE_BYTES
          ? await readLargeCompaction(session, how)
          : await toCompaction(await readEntries(session.path), how)
      if (record === undefined) {
        throw new ThroughlineError('nothing-to-compact', 'every turn of the session is a recent one', {
          hint: 'Keep fewer turns: --keep 3.',
        })
      }
      await compactions.add(record)
      return record
    },

    async undoCompaction(sessionId) {
      const session = await options.get(sessionId)
      const { active } = await compactions.read(session.id)
      if (active === undefined) {
        throw new ThroughlineError('nothing-to-undo', 'no compaction of the session holds', {
          hint: 'Only compactions that were made here can be taken back.',
        })
      }
      await compactions.undo(session.id, active.id, at())
      return await compactions.read(session.id)
    },

    async compactions(sessionId): Promise<CompactionState> {
      return await compactions.read((await options.get(sessionId)).id)
    },

    async convert(sessionId, request) {
      const session = await options.get(sessionId)
      return await convertSession(session, await sayOf(session), { ...options, ...request, lineage })
    },

    async copy(sessionId, request = {}) {
      return await forkSession(await options.get(sessionId), request, { ...options, lineage })
    },

    async lineage(sessionId) {
      return await lineage.read((await options.get(sessionId)).id)
    },
  }

  /** Whoever writes a session anew for its own agent writes only what is taken: that is mending enough. */
  async function repairByWriting(
    session: SessionSummary,
    entries: readonly Entry[],
    troubles: readonly Trouble[],
  ): Promise<RepairOutcome> {
    if (!isNativeAgent(session.agent)) {
      throw new ThroughlineError('request-invalid', `sessions of ${session.agent} cannot be written`, {
        hint: 'Go on with it in another agent, which mends it too: `throughline resume --in claude`.',
      })
    }
    const written = await convertSession(
      session,
      { entries, said: toSaid(entries) },
      { ...options, to: session.agent, lineage },
    )
    const { sessionId, command } = written
    const mended = troubles.filter(({ mend }) => mend !== undefined)
    return { sessionId, command, mended, left: troubles.filter(({ mend }) => mend === undefined) }
  }

  function toHow(
    session: SessionSummary,
    { keepTurns, by = 'extract' }: CompactRequest,
  ): Parameters<typeof toCompaction>[1] {
    const { summarise } = options
    if (by === 'agent' && summarise === undefined) {
      throw new ThroughlineError('driver-unavailable', 'no agent can be asked for a summary here', {
        hint: 'Start the daemon, or leave out --by agent.',
      })
    }
    return {
      id: options.mintId(),
      sessionId: session.id,
      at: at(),
      keepTurns,
      countTokens,
      ...(by === 'agent' && summarise !== undefined
        ? { summarise: async (_turns, extract) => await summarise(session, extract) }
        : {}),
    }
  }
}

function turnsKept(
  turns: readonly Turn[],
  entries: readonly Entry[],
  { keptFrom }: CompactionRecord,
): readonly Turn[] {
  const from = entries.findIndex(({ id }) => id === keptFrom)
  const kept = new Set(entries.slice(Math.max(0, from)).map(({ id }) => id))
  return turns.filter(({ messages }) => messages.some(({ id }) => kept.has(id)))
}

function toRestoredSession(
  sessionId: string,
  { turns, pending, ...restored }: Restored,
  compaction: CompactionRecord | undefined,
): RestoredSession {
  return {
    sessionId,
    ...restored,
    turns: turns.map(toShortTurn),
    pending: pending.map(({ id, name, input }) => ({ id, name, input })),
    ...(compaction === undefined ? {} : { compaction }),
  }
}

function toShortTurn({ messages, startedAt, state, toolCalls }: Turn): RestoredSession['turns'][number] {
  return { entryId: messages[0]?.id ?? '', startedAt, state, toolCalls }
}

/** Of a session that is too large to be held its end is looked at: how full the window is, and where it went on last. */
async function preflightOfLarge(session: SessionSummary): Promise<Preflight> {
  const preflight = toPreflight(session, await readLastEntries(session.path), undefined)
  return { ...preflight, troubles: preflight.troubles.filter(({ mend }) => mend === undefined) }
}

function toPreflight(
  { id: sessionId, agent }: Pick<SessionSummary, 'id' | 'agent'>,
  entries: readonly Entry[],
  active: CompactionRecord | undefined,
): Preflight {
  const window = windowIn(entries)
  const { tokens } = restore(entries, 'anthropic')
  // What was compacted here is not in the window that the agent told of last.
  const context = toContextNow(entries, active, countTokens)
  const isSince = context !== tokens.context
  const troubles = findTroubles(entries, { window, hasFolder: existsSync, agent })
  return {
    sessionId,
    troubles: isSince ? troubles.filter(({ kind }) => kind !== 'context-too-long') : troubles,
    tokens: { ...tokens, context },
    window,
    isFull: needsCompaction(context, window),
  }
}
