import type { LiveState } from '#model'

/** How Throughline is, and who is live. */
export interface Health {
  readonly version: string
  readonly protocol: number
  readonly pid: number
  readonly startedAt: string
  readonly sessions: {
    readonly total: number
    readonly live: readonly LiveSession[]
    /** Sessions that wait for a person: a permission or an answer. */
    readonly waitingForYou: number
  }
  readonly index: IndexState
  readonly archive: ArchiveState
  /** Whether the database of the team answers. Not there: this machine is in none. */
  readonly team?: 'connecting' | 'connected' | 'away' | undefined
  /** What a person may want to know: an index that was rebuilt, a watch that could not be set. */
  readonly notices: readonly Notice[]
}

export interface LiveSession {
  readonly id: string
  readonly name?: string | undefined
  readonly workdir?: string | undefined
  readonly live: LiveState
}

export type IndexState =
  | { readonly state: 'none' }
  | {
      readonly state: 'building' | 'complete' | 'failed'
      readonly files: { readonly done: number; readonly total: number }
      readonly bytes: { readonly done: number; readonly total: number }
      /** The size of the index on disk. */
      readonly size: number
    }

export interface ArchiveState {
  readonly enabled: boolean
  readonly files: number
  /** Bytes of transcripts whose original is gone: what the archive really costs. */
  readonly bytes: number
  /** Sessions that are only in the archive. */
  readonly goneSessions: number
}

export interface Notice {
  readonly at: string
  readonly message: string
  readonly hint: string
}
