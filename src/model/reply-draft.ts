import type { RecordEntry, ReplyEntry, Entry } from './entry.ts'
import type { ReplyMessage, ToolAnswer } from './message.ts'
import { stopOf, toCall } from './tool-answer.ts'
import type { Usage } from './usage.ts'

/** An answer that may still grow. */
export interface ReplyDraft {
  readonly kind: 'reply'
  readonly entries: Entry[]
  readonly lines: ReplyEntry[]
  readonly answers: Map<string, ToolAnswer>
  /** Told to be at its end, by a line that holds nothing of it. */
  ended?: ReplyEntry | RecordEntry
  /** What it cost, where a line beside its own says so. */
  usage?: Usage
}

export function createReplyDraft(): ReplyDraft {
  return { kind: 'reply', entries: [], lines: [], answers: new Map() }
}

/** Adds one of its lines. `calls` finds the answer that made a call. */
export function addLine(entry: ReplyEntry, draft: ReplyDraft, calls: Map<string, ReplyDraft>): void {
  draft.entries.push(entry)
  draft.lines.push(entry)
  for (const block of entry.blocks) if (block.kind === 'tool-use') calls.set(block.id, draft)
}

/** Adds what says that it is over, or what it cost. */
export function endReply(entry: ReplyEntry | RecordEntry, draft: ReplyDraft): void {
  draft.entries.push(entry)
  draft.ended = entry
  const usage = entry.kind === 'record' ? entry.spent?.usage : entry.usage
  if (usage !== undefined) draft.usage = usage
}

export function toReply(draft: ReplyDraft): ReplyMessage {
  const first = draft.lines[0]
  const last = draft.lines.at(-1)
  if (first === undefined || last === undefined) throw new Error('a reply is begun with its first line')
  const blocks = draft.lines.flatMap((line) => line.blocks)
  const { ended, usage = last.usage } = draft
  const stopReason = ended === undefined ? last.stopReason : stopOf(blocks)
  return {
    kind: 'reply',
    id: first.id,
    ...(first.at === undefined ? {} : { at: first.at }),
    entries: draft.entries,
    ...(first.messageId === undefined ? {} : { messageId: first.messageId }),
    ...(first.model === undefined ? {} : { model: first.model }),
    blocks,
    calls: blocks.flatMap((block) => (block.kind === 'tool-use' ? [toCall(block, draft.answers)] : [])),
    // Lines repeat the usage, and while streaming it grew: the last one is the message's.
    ...(usage === undefined ? {} : { usage }),
    ...(stopReason === undefined ? {} : { stopReason }),
    synthetic: false,
    apiError: first.apiError,
  }
}
