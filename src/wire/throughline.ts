import type { Digest, Entry, Passage, Reading, SessionSummary } from '#model'
import type { CheckReport } from './check.ts'
import type { Health } from './health.ts'
import type { ListOptions, SessionList } from './listing.ts'
import type { LiveCalls } from './live-calls.ts'
import type { MemoryCalls } from './memory-calls.ts'
import type { RestoreCalls } from './restore-calls.ts'
import type { LiveEvent, Subscription, Topic } from './live.ts'
import type { Page, PageOptions } from './page.ts'
import type { SearchPage, SearchRequest } from './search.ts'
import type { TeamCalls } from './team-calls.ts'
import type { UsageReport, UsageRequest } from './usage-report.ts'

/**
 * Everything Throughline does. `openThroughline()` does it in this process, `connect()` asks a daemon: the same
 * calls, the same answers, the same errors.
 */
export interface Throughline {
  /** Sessions that are run now. */
  readonly live: LiveCalls
  /** What is remembered, and what new sessions begin with. */
  readonly memory: MemoryCalls
  /** Going on with sessions: restored, mended, compacted, in another agent. */
  readonly restoring: RestoreCalls
  /** Other machines and other people. */
  readonly team: TeamCalls
  health(): Promise<Health>
  /** Every session, most recently active first. One bad file never hides another. */
  list(options?: ListOptions): Promise<SessionList>
  /** The session with this id, unique id prefix of at least 4 characters, or whole name. Throws `session-not-found` or `session-ambiguous`. */
  get(query: string): Promise<SessionSummary>
  /** The session with the facts that only a full read tells. */
  survey(session: SessionSummary): Promise<SessionSummary>
  /** What a full read tells, for finding one's way in it. What was read once is not read again while it only grows. */
  digest(session: SessionSummary): Promise<Digest>
  /** Gives a session a name of the person's choosing; `undefined` takes it back. Durable when it resolves. */
  rename(session: SessionSummary, name: string | undefined): Promise<SessionSummary>
  /** Marks a session, or takes the mark back. Durable when it resolves. */
  star(session: SessionSummary, starred: boolean): Promise<SessionSummary>
  /** Everything in file order, in pieces of about a turn. */
  passages(session: SessionSummary, options?: PassageOptions): AsyncIterable<readonly Passage[]>
  /** Entries and damage in file order, as they were read. */
  entries(session: SessionSummary): AsyncIterable<Reading>
  /** Entries before or after a cursor, found by seeking. Oldest first. Throws `cursor-void` when the file was rewritten. */
  page(session: SessionSummary, options: PageOptions): Promise<Page>
  /** What the model sees now: the active path after the last compaction. */
  conversation(session: SessionSummary, options?: ConversationOptions): Promise<readonly Entry[]>
  /** What is wrong with a session, and what to do about it. */
  check(session: SessionSummary): Promise<CheckReport>
  /** The bytes of the transcript. */
  bytes(session: SessionSummary): AsyncIterable<Uint8Array>
  /** Full text with facets. A query that cannot be understood as written is searched as words, and says so. */
  search(request: SearchRequest): Promise<SearchPage>
  /** Puts sample sessions among the others, so that there is something to look at; or takes them away again. */
  demo(wanted: 'on' | 'off'): Promise<void>
  /** Tokens and what they cost. */
  usage(request: UsageRequest): Promise<UsageReport>
  /**
   * Tells what there is after the cursor, then what happens. Every event carries the cursor to go on from, so a
   * broken connection is taken up again without gap or repetition.
   */
  subscribe(topic: Topic, options: SubscribeOptions): Subscription
  close(): Promise<void>
}

export interface ConversationOptions {
  /** With `false` entries come without their raw line: half the bytes, and enough to show them. Default: true. */
  readonly raw?: boolean
}

export interface PassageOptions {
  /** A subagent's conversation instead of the session's own. */
  readonly subagent?: string
  /** Only about this many messages from the end. */
  readonly last?: number
}

export interface SubscribeOptions {
  /** How far the device has seen. Default: nothing yet. */
  readonly cursor?: string
  /** While a subscriber catches up, the next piece is not read before what this returns is done. */
  readonly onEvent: (event: LiveEvent) => void | Promise<void>
  /** The subscription ended by itself: the session is unknown, or access was taken back. */
  readonly onError?: (error: Error) => void
}
