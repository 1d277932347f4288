import type { CompactionRecord, Loss, NativeAgent, SessionOrigin, Target, TokenState, Trouble } from '#model'

/**
 * Going on with a session: whole, for any provider; mended, on a copy; shorter, and back again; in another agent. The
 * files of agents are never changed: what is written is a new session, or a line in a journal of our own.
 */
export interface RestoreCalls {
  /** The conversation as an interface of a provider takes it, after the compaction of ours that holds, if any. */
  restore(sessionId: string, target: Target): Promise<RestoredSession>
  /** What would fail the next request, and how full the window is. */
  preflight(sessionId: string): Promise<Preflight>
  /** Writes a mended copy as a new session of the same agent. Nothing is written when nothing can be mended. */
  repair(sessionId: string): Promise<RepairOutcome>
  /** Compacts, without touching the session. Throws `nothing-to-compact` when there is no old turn. */
  compact(sessionId: string, request?: CompactRequest): Promise<CompactionRecord>
  /** Takes the last compaction back: the conversation is exactly what it was. Throws `nothing-to-undo`. */
  undoCompaction(sessionId: string): Promise<CompactionState>
  compactions(sessionId: string): Promise<CompactionState>
  /** Writes the session as a native one of an agent, or only says what it would lose. Twice: the same session. */
  convert(sessionId: string, request: ConvertRequest): Promise<ConvertOutcome>
  /** Writes a new session of the same agent with everything up to an entry. No agent is started. */
  copy(sessionId: string, request?: ForkCopyRequest): Promise<ForkCopy>
  /** Where a session came from and what became of it, one step in both directions. */
  lineage(sessionId: string): Promise<Lineage>
}

export interface RestoredSession {
  readonly sessionId: string
  readonly target: Target
  readonly messages: readonly object[]
  /** The entries that begin each turn. */
  readonly turns: readonly RestoredTurn[]
  readonly tokens: TokenState
  readonly model?: string | undefined
  readonly workdir?: string | undefined
  readonly branch?: string | undefined
  readonly mode?: string | undefined
  /** Calls that nobody answered. */
  readonly pending: readonly { readonly id: string; readonly name: string; readonly input: unknown }[]
  readonly losses: readonly Loss[]
  /** The compaction of ours that it begins with. */
  readonly compaction?: CompactionRecord | undefined
}

export interface RestoredTurn {
  readonly entryId: string
  readonly startedAt?: string | undefined
  readonly state: 'answered' | 'interrupted' | 'failed' | 'open'
  readonly toolCalls: number
}

export interface Preflight {
  readonly sessionId: string
  readonly troubles: readonly Trouble[]
  readonly tokens: TokenState
  /** How many tokens the model of the session takes. */
  readonly window: number
  /** Whether it is time to compact. */
  readonly isFull: boolean
}

export interface RepairOutcome {
  /** The mended copy; absent when there was nothing to mend. */
  readonly sessionId?: string | undefined
  readonly mended: readonly Trouble[]
  /** What takes more than a change of a line. */
  readonly left: readonly Trouble[]
  /** How to go on with the copy in a terminal. */
  readonly command?: readonly string[] | undefined
}

export interface CompactRequest {
  /** Turns that stay word by word. Default: 10. */
  readonly keepTurns?: number | undefined
  /** Who writes the summary: `extract` takes it from what was said, `agent` asks the session's own agent. */
  readonly by?: 'extract' | 'agent' | undefined
}

export interface CompactionState {
  /** The one that holds. */
  readonly active?: CompactionRecord | undefined
  /** All that were ever made, oldest first; those that were taken back are marked. */
  readonly records: readonly (CompactionRecord & { readonly undoneAt?: string | undefined })[]
}

export interface ConvertRequest {
  readonly to: NativeAgent
  /** Says what it would lose, and writes nothing. */
  readonly dryRun?: boolean | undefined
  /** The folder to go on in. Default: the session's own. */
  readonly workdir?: string | undefined
}

export interface ConvertOutcome {
  readonly agent: NativeAgent
  /** The id of the session there. */
  readonly sessionId: string
  readonly isWritten: boolean
  readonly losses: readonly Loss[]
  /** How to go on with it in a terminal. */
  readonly command: readonly string[]
  /** The folder in which the command is to be run. */
  readonly workdir: string
}

export interface ForkCopyRequest {
  /** The id of the last entry that is copied. Default: all. */
  readonly at?: string | undefined
  /** The folder to continue in. Default: the session's own. */
  readonly workdir?: string | undefined
}

export interface ForkCopy {
  /** The id of the copy. */
  readonly sessionId: string
  readonly agent: string
  /** How to go on with it in a terminal. */
  readonly command: readonly string[]
  /** The folder in which the command is to be run. */
  readonly workdir: string
}

export interface Lineage {
  readonly from?: LineageLink | undefined
  readonly to: readonly LineageLink[]
}

export interface LineageLink {
  readonly sessionId: string
  readonly agent: string
  readonly kind: 'repaired' | 'converted' | 'handed-over' | 'forked'
  readonly at: string
  /** The machine that it is on, and whose that is, when it is another one of the team. */
  readonly origin?: Omit<SessionOrigin, 'mine'> | undefined
}
