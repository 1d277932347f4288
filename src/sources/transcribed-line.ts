import type { JsonObject } from '#base'

/** A line of a transcription: what Claude Code would have written, and the original beside it. */
export interface TranscribedLine {
  readonly type: 'user' | 'assistant' | 'system' | 'ai-title' | 'transcribed'
  readonly uuid?: string
  readonly parentUuid?: string | null
  /** What else a line of its type has: `isMeta`, `subtype`, `content`, `level`… */
  readonly more?: JsonObject
  readonly message?: JsonObject
  /** What the agent wrote, whole. */
  readonly original?: unknown
  readonly provider?: string | undefined
  readonly timestamp?: string | undefined
  readonly cwd?: string | undefined
  readonly sessionId: string
  readonly version?: string | undefined
}

/**
 * Writes a line down, without its newline. The short values stand behind the long ones, as Claude Code has them: a
 * list finds them at the end of the line. What other readers take for the end of a line is escaped.
 */
export function toTranscribedLine(line: TranscribedLine): string {
  const { type, uuid, parentUuid, more, message, original, timestamp, cwd, sessionId, version, provider } =
    line
  return JSON.stringify({
    ...(parentUuid === undefined ? {} : { parentUuid, isSidechain: false }),
    type,
    ...(uuid === undefined ? {} : { uuid }),
    ...more,
    ...(message === undefined ? {} : { message }),
    ...(original === undefined ? {} : { original }),
    ...(provider === undefined ? {} : { provider }),
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(cwd === undefined ? {} : { cwd }),
    sessionId,
    ...(version === undefined ? {} : { version }),
  })
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}
