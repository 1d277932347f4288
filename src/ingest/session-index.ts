import type { SessionCounts } from '#model'
import type {
  IndexState,
  Notice,
  SearchHit,
  SearchPage,
  SearchRequest,
  UsageReport,
  UsageRequest,
} from '#wire'
import type { IndexTask } from './index-task.ts'

/**
 * The index of all sessions, wherever it is kept busy: in this thread, or in one of its own. It follows what it is
 * told about files, answers searches, and mends itself: deleted or damaged, it is built again.
 */
export interface SessionIndex {
  /** These are all the files there are, the most recently active first. */
  sync(tasks: readonly IndexTask[]): void
  /** A file is new or grew. */
  touch(task: IndexTask): void
  forget(path: string): void
  /** The same bytes have another name now. */
  move(from: string, to: string): void
  search(request: SearchRequest): Promise<IndexedPage>
  /** Sessions that are left out are as if they were not there: what they share with others is billed to those. */
  usage(request: UsageRequest, leftOut?: readonly string[]): Promise<UsageReport>
  /** Hits among what is indexed after the cursor. Without one: from now on. */
  watch(q: string, options: WatchOptions): Watch
  state(): IndexState
  /** Resolves when everything it was told is in it. */
  settled(): Promise<void>
  close(): Promise<void>
}

export type IndexedPage = Omit<SearchPage, 'hits' | 'index' | 'team'> & {
  readonly hits: readonly IndexedHit[]
}

/** A hit without what only the catalogue knows of its session. */
export type IndexedHit = Omit<SearchHit, 'session'> & {
  readonly path: string
  readonly number: number
  /** How much of it is what was asked for: the same for the same text, whichever index found it. */
  readonly weight: number
  /** A cursor right behind it. Not there for news. */
  readonly after?: string | undefined
}

export interface WatchOptions {
  readonly cursor?: string
  readonly onHit: (hit: IndexedHit, cursor: string) => void
  /** Another index answers now; hits that were told may come again. */
  readonly onReset: (cursor: string) => void
  /** Everything up to the present has been told. */
  readonly onCaughtUp: (cursor: string) => void
}

export interface Watch {
  close(): void
}

export interface SessionIndexOptions {
  /** The file the index is kept in. */
  readonly path: string
  /** The machine the files are on. */
  readonly origin: string
  /** What sessions amount to changed. */
  readonly onCounts: (counts: ReadonlyMap<string, SessionCounts>) => void
  readonly onState?: (state: IndexState) => void
  readonly onNotice: (notice: Omit<Notice, 'at'>) => void
  readonly now: () => number
  /** How long nobody writes to a file before its last line is taken without a newline. */
  readonly restMs?: number | undefined
}
