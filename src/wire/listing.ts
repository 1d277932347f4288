import type { SessionSummary, Usage } from '#model'

export interface ListOptions {
  readonly agent?: string
  /** Only sessions that worked in this folder or below it. */
  readonly workdir?: string
  /** Only sessions whose id, name, first prompt or workdir contains this, whatever the case. */
  readonly text?: string
  readonly live?: 'any' | 'busy' | 'waiting' | 'idle' | 'gone'
  readonly starred?: boolean
  /** At most this many, the most recently active ones. */
  readonly limit?: number
  /** Those after the last one of another page: its `next`. */
  readonly cursor?: string
  /** Every listed session with counts, tokens and damage. Without an index every file is read whole. */
  readonly full?: boolean
  readonly onProgress?: (done: number, total: number) => void
}

export interface SessionList {
  readonly sessions: readonly SessionSummary[]
  /** Tokens of all listed sessions, every message counted once. Only with `full`. */
  readonly usage?: Usage
  /** The folders that were looked in, and those that sessions must have worked in to be shown (empty: any). */
  readonly lookedIn: readonly string[]
  readonly allowedRoots: readonly string[]
  /** Files and folders that could not be looked at. */
  readonly problems: readonly Problem[]
  /** Give as `cursor` for the sessions that follow; absent at the end. */
  readonly next?: string
}

export interface Problem {
  readonly path: string
  readonly message: string
  readonly hint: string
}
