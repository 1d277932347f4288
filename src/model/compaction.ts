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

/** How many tokens it took out of the model's window, when it says so. */
export function savedTokens({ tokensBefore, tokensAfter }: Compaction): number | undefined {
  if (tokensBefore === undefined || tokensAfter === undefined) return undefined
  return Math.max(0, tokensBefore - tokensAfter)
}

/** What files tell of a compaction, for a report of what was used. */
export interface CompactionFact {
  /** The entry; that of the original where the line is a copy. */
  readonly key: string
  /** What it took out of the model's window. Absent where the line does not say. */
  readonly tokens?: number | undefined
  /** The request that made it has no line, as with Claude Code: it is billed only where the session states its cost. */
  readonly unseen?: true
}

export function toCompactionFact(entry: Parameters<typeof compactionKey>[0]): CompactionFact {
  const { compaction } = entry
  // Other agents bill it like any request, or say nothing of sizes.
  const isUnseen = compaction.tokensBefore !== undefined && compaction.window === undefined
  const tokens = savedTokens(compaction)
  return {
    key: compactionKey(entry),
    ...(tokens === undefined ? {} : { tokens }),
    ...(isUnseen ? { unseen: true } : {}),
  }
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
