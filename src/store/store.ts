import type { CompactionFact, EntryKind, Place, Usage } from '#model'
import type { SearchTier } from '#wire'
import type { Query } from './query.ts'

/**
 * What is derived from transcripts: where entries stand, what they say, what they cost. Holds no body and no truth:
 * it may be deleted at any moment and is built again from the files. Says nothing about how it is kept; whatever
 * keeps it passes the suite in `testing`.
 */
export interface Store {
  /** Names this index. One that was built anew has another name. */
  readonly epoch: string
  /** The highest number that an entry has. */
  newest(): Promise<number>
  /** Every file it knows, and how far each one is in it. */
  files(): Promise<readonly IndexedFile[]>
  /** All of the changes, or none: entries, search text, bills and how far the file is read move together. */
  apply(changes: readonly Change[]): Promise<Applied>
  search(request: StoreRequest): Promise<Found>
  /** What sessions amount to: the given ones, or all. */
  totals(sessions?: readonly string[]): Promise<readonly SessionTotals[]>
  /** What was billed, one per message and file. */
  bills(): Promise<Iterable<StoredBill>>
  /** Bytes on disk. */
  size(): Promise<number>
  /** What is wrong with it, in its own words; nothing when it is sound. */
  verify(): Promise<readonly string[]>
  /** Work that makes searching faster and is best done when nobody waits. Says whether there is more of it. */
  tidy(): Promise<boolean>
  close(): Promise<void>
}

/** A transcript, as far as it is in the index. */
export interface IndexedFile {
  readonly path: string
  /** The machine its bytes are on. */
  readonly origin: string
  readonly agent: string
  readonly session: string
  readonly subagent?: string | undefined
  readonly createdAt: string
  readonly workdirs: readonly string[]
  /** Everything before this offset is in the index. */
  readonly offset: number
  /** Tells whether the bytes that were read are still there. */
  readonly guard: string
  /** The file's size, time and identity when it was looked at last: while they are the same, nothing is read. */
  readonly seen: string
  /** What is carried from one piece of the file to the next, and its counts. */
  readonly fold: string
}

export type Change =
  | {
      readonly kind: 'advance'
      readonly file: IndexedFile
      /** Everything the index had of the file is void. */
      readonly anew: boolean
      /** `past`: from a file found by a build, older than all that is indexed. `news`: it happened just now. */
      readonly as: 'past' | 'news'
      /** Offsets of entries that it had of the file, and that another one stands for now. */
      readonly replaced?: readonly number[]
      readonly entries: readonly EntryRow[]
      readonly bills: readonly BillRow[]
    }
  | { readonly kind: 'forget'; readonly path: string }
  /** The same bytes are under another name now. What the index had under that name is void. */
  | { readonly kind: 'move'; readonly from: string; readonly to: string }

/** An entry with something to find in it. */
export interface EntryRow extends Place {
  readonly kind: EntryKind
  readonly speaker: Speaker
  /** Milliseconds. */
  readonly at?: number | undefined
  readonly tool?: string | undefined
  readonly isError: boolean
  /** An agent asks in it that something is kept. */
  readonly hasDirective: boolean
  readonly text: { readonly [Tier in SearchTier]?: string }
}

export type Speaker = 'human' | 'agent' | 'tool' | 'program' | 'system'

/** What one message cost, as one file tells it. */
export interface BillRow {
  /** Message and request. */
  readonly key: string
  readonly at?: number | undefined
  readonly model?: string | undefined
  readonly workdir?: string | undefined
  readonly usage: Usage
}

export interface StoredBill extends BillRow {
  readonly path: string
  /** The machine its file is on, where the index is one of many. */
  readonly origin?: string | undefined
  readonly session: string
  readonly createdAt: string
}

/** A compaction, as one file tells it. */
export interface CompactionRow extends CompactionFact {
  readonly at?: number | undefined
  readonly workdir?: string | undefined
}

export interface StoredCompaction extends CompactionRow {
  readonly path: string
}

export interface Applied {
  /** Rows written, so that a test can say what a change may cost. */
  readonly rows: number
  /** Entries numbered from here on are news to those who wait for some. */
  readonly newest: number
}

export interface StoreRequest {
  readonly query: Query
  readonly limit: number
  readonly cursor?: string
  /** Only entries numbered higher, in the order of their numbers and each one once: for those who wait for news. */
  readonly newerThan?: number
}

export interface Found {
  readonly hits: readonly FoundEntry[]
  readonly next?: string
  readonly total: { readonly count: number; readonly exact: boolean }
  readonly notes: readonly string[]
}

/** Where a match stands. What it says is in the transcript. */
export interface FoundEntry extends Place {
  readonly number: number
  readonly path: string
  /** The machine its file is on, where the index is one of many. */
  readonly origin?: string | undefined
  readonly agent: string
  readonly session: string
  readonly subagent?: string | undefined
  readonly kind: EntryKind
  readonly at?: number | undefined
  readonly tool?: string | undefined
  readonly isError: boolean
  readonly where: SearchTier
}

/** What the bills of a session and its subagents come to, each message once. */
export interface SessionTotals {
  readonly session: string
  /** Messages of models in the session's own file. */
  readonly replies: number
  readonly usage: Usage
}
