import type { Entry, Passage, SessionSummary, Usage } from '#model'
import type { Reading } from '#sources'

/** Everything Throughline does, in one process. `openThroughline()` gives one. */
export interface Throughline {
  /** Where it looks and what it may show. */
  readonly config: Config
  /** Every session, most recently active first. One bad file never hides another. */
  list(options?: ListOptions): Promise<SessionList>
  /** The session with this id, unique id prefix, or name. Throws `session-not-found` or `session-ambiguous`. */
  get(query: string): Promise<SessionSummary>
  /** The session with the facts that only a full read tells. */
  survey(session: SessionSummary): Promise<SessionSummary>
  /** Everything in file order, in pieces of about a turn. */
  passages(session: SessionSummary, options?: PassageOptions): AsyncIterable<readonly Passage[]>
  /** Entries and damage in file order, as they were read. */
  entries(session: SessionSummary): AsyncIterable<Reading>
  /** The last entries, or those before a byte offset, found by seeking. Oldest first. */
  page(session: SessionSummary, options: PageOptions): Promise<Page>
  /** What the model sees now: the active path after the last compaction. */
  conversation(session: SessionSummary): Promise<readonly Entry[]>
  /** What is wrong with a session, and what to do about it. */
  check(session: SessionSummary): Promise<CheckReport>
  /** The bytes of the transcript. */
  bytes(session: SessionSummary): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

export interface Config {
  /** Throughline's own folder. */
  readonly home: string
  /** Claude Code's config folder. */
  readonly claudeDir: string
  /** Sessions outside these folders are not shown. Empty: all are. Real paths. */
  readonly allowedRoots: readonly string[]
}

export interface ListOptions {
  /** Only sessions that worked in this folder or below it. */
  readonly workdir?: string
  /** Only sessions whose id, name, first prompt or workdir contains this, whatever the case. */
  readonly text?: string
  readonly live?: 'any' | 'busy' | 'waiting' | 'idle'
  /** At most this many, the most recently active ones. */
  readonly limit?: number
  /** Read every listed file whole, for counts, tokens and damage. */
  readonly full?: boolean
  readonly onProgress?: (done: number, total: number) => void
}

export interface SessionList {
  readonly sessions: readonly SessionSummary[]
  /** Tokens of all listed sessions, every message counted once. Only with `full`. */
  readonly usage?: Usage
  /** Files and folders that could not be looked at. */
  readonly problems: readonly Problem[]
}

export interface Problem {
  readonly path: string
  readonly message: string
  readonly hint: string
}

export interface PassageOptions {
  /** A subagent's conversation instead of the session's own. */
  readonly subagent?: string
  /** Only about this many messages from the end. */
  readonly last?: number
}

export interface PageOptions {
  readonly limit: number
  /** Entries that begin before this byte offset. Default: the end of the file. */
  readonly before?: number
  /** Entries that begin at or after this byte offset. Wins over `before`. */
  readonly after?: number
}

export interface Page {
  readonly readings: readonly Reading[]
  /** Give as `before` to go on towards the beginning; absent at the beginning. */
  readonly before?: number
  /** Give as `after` to go on towards the end; absent at the end. */
  readonly after?: number
}

export interface CheckReport {
  readonly session: SessionSummary
  readonly findings: readonly Finding[]
}

/** Something wrong, where it is, why, and what to do. */
export interface Finding {
  readonly severity: 'error' | 'warning' | 'note'
  /** Stable word for programs: `torn`, `dangling-parent`, `unanswered-call`… */
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly path: string
  readonly offset?: number
  readonly length?: number
  readonly entryId?: string
}
