import type { Block, ToolUseBlock } from './block.ts'
import type { Compaction } from './compaction.ts'
import type { Decision, Entry } from './entry.ts'
import type { Damage } from './place.ts'
import type { Usage } from './usage.ts'

/** A message, or a place where bytes could not be read, in file order. */
export type Passage = Message | { readonly kind: 'damage'; readonly damage: Damage }

/**
 * What a reader sees: entries put back together the way they were said. Every entry is in exactly one message, in
 * file order of its first entry; results sit with the calls they answer.
 */
export type Message =
  | PromptMessage
  | ReplyMessage
  | CommandMessage
  | CompactionMessage
  | NoticeMessage
  | OrphanMessage
  | AsideMessage

interface MessageBase {
  /** The id of its first entry. */
  readonly id: string
  readonly at?: string
  readonly entries: readonly Entry[]
  /** Not on the way to the active end of the conversation: rewound, or overtaken by another writer. */
  readonly offPath?: true
}

export interface PromptMessage extends MessageBase {
  readonly kind: 'prompt'
  readonly blocks: readonly Block[]
  readonly origin: 'person' | 'program' | 'system'
  readonly midTurn: boolean
}

export interface ReplyMessage extends MessageBase {
  readonly kind: 'reply'
  readonly messageId?: string
  readonly model?: string
  /** All blocks of the message in the order they were written. A tool-use block has its `ToolCall` in `calls`. */
  readonly blocks: readonly Block[]
  readonly calls: readonly ToolCall[]
  readonly usage?: Usage
  readonly stopReason?: string
  readonly synthetic: boolean
  readonly apiError: boolean
}

export interface ToolCall {
  readonly use: ToolUseBlock
  readonly state: 'done' | 'failed' | 'refused' | 'pending'
  readonly result?: ToolAnswer
  /** What the subagent that it started said and did, where that stands in the session's own file and nowhere else. */
  readonly work?: readonly Message[]
}

export interface ToolAnswer {
  readonly entryId: string
  readonly at?: string
  readonly content: readonly Block[]
  readonly isError: boolean
  readonly decision?: Decision
  readonly startedAgentId?: string
}

export interface CommandMessage extends MessageBase {
  readonly kind: 'command'
  readonly command?: string
  readonly args?: string
  readonly output?: string
}

export interface CompactionMessage extends MessageBase {
  readonly kind: 'compaction'
  readonly compaction: Compaction
  readonly summary: readonly Block[]
}

export interface NoticeMessage extends MessageBase {
  readonly kind: 'notice'
  readonly level: string
  readonly text: string
}

/** A result whose call is not among the entries. */
export interface OrphanMessage extends MessageBase {
  readonly kind: 'orphan'
  readonly toolUseId: string
  readonly answer: ToolAnswer
}

/** Neighbouring entries that surround the conversation: context, records, injections, unknown lines. */
export interface AsideMessage extends MessageBase {
  readonly kind: 'aside'
}
