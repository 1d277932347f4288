import type { Reading } from '#model'

export interface PageOptions {
  readonly limit: number
  /** A subagent's conversation instead of the session's own. */
  readonly subagent?: string
  /** Entries that end before this cursor. Default: the end of the file. */
  readonly before?: string
  /** Entries after this cursor. Wins over `before`. */
  readonly after?: string
  /** Entries around a place: about as many before it as from it on. Wins over `after` and `before`. */
  readonly around?: PagePlace
  /** With `false` entries come without their raw line: half the bytes, and enough to show them. Default: true. */
  readonly raw?: boolean
}

/** A place in a session. An entry that is nowhere throws `entry-not-found`; a time or an offset always means something. */
export type PagePlace =
  | { readonly entry: string }
  /** The first entry that is not older than this. */
  | { readonly time: string }
  /** The entry that stands at this byte of the file, or the next one. */
  | { readonly offset: number }

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
