import type { JsonObject } from '#base'

/** A session of opencode, wherever it is kept. */
export interface OpencodeSession {
  readonly id: string
  readonly parentId: string | undefined
  readonly projectId: string | undefined
  readonly directory: string | undefined
  readonly title: string | undefined
  readonly version: string | undefined
  readonly archived: boolean
  /** When it was made, in milliseconds. */
  readonly created: number | undefined
  /** Another one when its messages or their parts may be others. */
  readonly stamp: string
}

export interface OpencodeMessage {
  readonly id: string
  readonly data: JsonObject
  readonly parts: readonly OpencodePart[]
}

export interface OpencodePart {
  readonly id: string
  readonly data: JsonObject
}

/** A place where opencode keeps sessions, open for reading. */
export interface OpencodeRows {
  readonly sessions: readonly OpencodeSession[]
  /** The messages of a session with their parts, oldest first. */
  messagesOf(sessionId: string): readonly OpencodeMessage[]
  close(): void
}
