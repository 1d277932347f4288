import { list, number, object, string } from '#base'

/** What a compaction boundary says: everything before it is summarised, except what it preserved. */
export interface Compaction {
  readonly trigger: string
  readonly tokensBefore?: number
  readonly tokensAfter?: number
  readonly preserved?: Preserved
  /** The agent's own name for the window that it began, where lines have no ids: the same in every file that has it. */
  readonly window?: string
}

/**
 * Entries before the boundary that stay verbatim. They are not written again: in the tree they hang from
 * `anchorId`, in the order given, and what hung from the anchor hangs from the last of them.
 */
export type Preserved =
  | { readonly kind: 'entries'; readonly anchorId: string; readonly ids: readonly string[] }
  /** Older clients name only the two ends. */
  | { readonly kind: 'segment'; readonly anchorId: string; readonly headId: string; readonly tailId: string }

export function readCompaction(metadata: unknown): Compaction {
  const tokensBefore = number(metadata, 'preTokens')
  const tokensAfter = number(metadata, 'postTokens')
  const preserved = readPreserved(metadata)
  return {
    trigger: string(metadata, 'trigger') ?? 'unknown',
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...(preserved === undefined ? {} : { preserved }),
  }
}

/** What tells a compaction from others, however many files have a copy of it. */
export function compactionKey({
  id,
  forkedFrom,
  compaction,
}: {
  readonly id: string
  readonly forkedFrom?: { readonly entryId: string } | undefined
  readonly compaction: Compaction
}): string {
  return compaction.window ?? forkedFrom?.entryId ?? id
}

/** How many tokens it took out of the model's window; 0 when it does not say. */
export function savedTokens({ tokensBefore = 0, tokensAfter }: Compaction): number {
  return tokensAfter === undefined ? 0 : Math.max(0, tokensBefore - tokensAfter)
}

function readPreserved(metadata: unknown): Preserved | undefined {
  const messages = object(metadata, 'preservedMessages')
  const messagesAnchor = string(messages, 'anchorUuid')
  if (messagesAnchor !== undefined) {
    const ids = list(messages, 'uuids').filter((id): id is string => typeof id === 'string')
    return { kind: 'entries', anchorId: messagesAnchor, ids }
  }
  const segment = object(metadata, 'preservedSegment')
  const anchorId = string(segment, 'anchorUuid')
  const headId = string(segment, 'headUuid')
  const tailId = string(segment, 'tailUuid')
  if (anchorId === undefined || headId === undefined || tailId === undefined) return undefined
  return { kind: 'segment', anchorId, headId, tailId }
}
