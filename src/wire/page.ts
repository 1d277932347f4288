import type { Reading } from '#model'

export interface PageOptions {
  readonly limit: number
  /** A subagent's conversation instead of the session's own. */
  readonly subagent?: string
  /** Entries that end before this cursor. Default: the end of the file. */
  readonly before?: string
  /** Entries after this cursor. Wins over `before`. */
  readonly after?: string
  /** With `false` entries come without their raw line: half the bytes, and enough to show them. Default: true. */
  readonly raw?: boolean
}

/**
 * A stretch of a session, oldest first. Cursors name a place in the file and the bytes before it, so they mean the
 * same after a restart, and are void when the file was rewritten.
 */
export interface Page {
  readonly readings: readonly Reading[]
  /** Give as `before` for the page that precedes this one. */
  readonly start: string
  /** Give as `after`, or to `subscribe`, for what follows. A last line that is not whole yet is not behind it. */
  readonly end: string
  readonly atStart: boolean
  readonly atEnd: boolean
}
