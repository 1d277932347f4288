import { string } from '#base'
import type { Spent } from './billing.ts'
import { textOf, type Block } from './block.ts'
import type { Compaction } from './compaction.ts'
import type { CostTotals } from './compaction-cost.ts'
import type { Place } from './place.ts'
import type { Usage } from './usage.ts'
import { isWakeUp } from './wake-up-format.ts'

/** A vendor's message format. Some writers say `claude` and `codex` for `anthropic` and `openai`. */
export type Provider = 'anthropic' | 'openai' | 'gemini' | 'unknown'

/**
 * One fact of a session, normalised. What has no name here is still in `raw`, byte for byte.
 *
 * `place` says which bytes of which file it was read from; `raw` are those bytes.
 */
export type Entry =
  | PromptEntry
  | ReplyEntry
  | ResultEntry
  | CommandEntry
  | InterruptionEntry
  | InjectionEntry
  | SummaryEntry
  | CompactionEntry
  | ContextEntry
  | NoticeEntry
  | RecordEntry
  | DelegatedEntry
  | OversizeEntry
  | UnknownEntry

export type EntryKind = Entry['kind']

/** Optional fields may be there as `undefined`: entries of a kind then have one shape, and are read twice as fast. */
export interface Envelope {
  /** The line's own uuid. A line without one is named by its place: `@<offset>`. Unique within one file only. */
  readonly id: string
  readonly place: Place
  /** Empty for an `oversize` entry. */
  readonly raw: Uint8Array
  /** The agent's own word for it: `user`, `system/compact_boundary`, `attachment/queued_command`. */
  readonly type: string
  /** Present on entries that are links of the conversation's chain. */
  readonly link?: Link | undefined
  readonly at?: string | undefined
  readonly sessionId?: string | undefined
  readonly cwd?: string | undefined
  readonly gitBranch?: string | undefined
  readonly version?: string | undefined
  readonly entrypoint?: string | undefined
  /** The subagent whose file this is. */
  readonly agentId?: string | undefined
  readonly requestId?: string | undefined
  readonly provider?: Provider | undefined
  /** Where a forked line was copied from. */
  readonly forkedFrom?: { readonly sessionId: string; readonly entryId: string } | undefined
}

/** How an entry hangs in the tree. */
export interface Link {
  /** Absent for agents whose lines name no parent: it follows the link before it in the file. */
  readonly parentId?: string | null | undefined
  /** What a compaction boundary continues, though nothing hangs from it. */
  readonly logicalParentId?: string | undefined
  readonly sidechain: boolean
  /**
   * What it takes back of the path so far: everything from a byte on, or the last turns. What comes next hangs from what
   * is left.
   */
  readonly takesBack?: { readonly from: number } | { readonly turns: number } | undefined
}

/** Words for the agent: a person's, or those of the program that drives it. */
export interface PromptEntry extends Envelope {
  readonly kind: 'prompt'
  readonly blocks: readonly Block[]
  /** `system`: nobody said it; a background task reported back, for instance. */
  readonly origin: 'person' | 'program' | 'system'
  /** Sent while a turn was running and absorbed by it. */
  readonly midTurn: boolean
  /** The id its sender gave it, where the line has another one of its own. */
  readonly sentAs?: string | undefined
  readonly permissionMode?: string | undefined
  /** Written when it was typed. Where a later line delivers it, that one stands for it. */
  readonly queued?: true | undefined
}

/** A line of the agent's answer. One message of the model is several lines with one `messageId`. */
export interface ReplyEntry extends Envelope {
  readonly kind: 'reply'
  readonly messageId?: string | undefined
  /**
   * For agents that give the lines of an answer no common id. An `item` goes on with the answer before it; an `end`
   * holds nothing of it but what it cost, if that, and ends it.
   */
  readonly part?: 'item' | 'end' | undefined
  readonly model?: string | undefined
  readonly blocks: readonly Block[]
  readonly usage?: Usage | undefined
  readonly stopReason?: string | undefined
  readonly stopSequence?: string | undefined
  /** Written by the client, not by a model: `No response requested.`, API errors. Costs nothing. */
  readonly synthetic: boolean
  readonly apiError: boolean
}

/** Results of tool calls. */
export interface ResultEntry extends Envelope {
  readonly kind: 'result'
  readonly blocks: readonly Block[]
  /** The entry that made the call, where the line says so. */
  readonly callEntryId?: string | undefined
  readonly decision?: Decision | undefined
  /** The subagent the call started, where the line says so. */
  readonly startedAgentId?: string | undefined
}

/** How a tool call was permitted or refused. */
export interface Decision {
  readonly outcome: 'accepted' | 'rejected'
  readonly by?: string | undefined
  /** `permission-rule`, `user-rejected`, `interrupted`… */
  readonly denial?: string | undefined
}

/** A slash command, or what it printed. */
export interface CommandEntry extends Envelope {
  readonly kind: 'command'
  readonly command?: string | undefined
  readonly args?: string | undefined
  readonly output?: string | undefined
  /** Written when it was typed. Where a later line delivers it, that one stands for it. */
  readonly queued?: true | undefined
}

/** A person stopped the turn. */
export interface InterruptionEntry extends Envelope {
  readonly kind: 'interruption'
  readonly text: string
}

/** User-role text that no user wrote: caveats, reminders, notes to the model. */
export interface InjectionEntry extends Envelope {
  readonly kind: 'injection'
  readonly blocks: readonly Block[]
}

/** The text that stands for everything before a compaction. */
export interface SummaryEntry extends Envelope {
  readonly kind: 'summary'
  readonly blocks: readonly Block[]
}

export interface CompactionEntry extends Envelope {
  readonly kind: 'compaction'
  readonly compaction: Compaction
  /** The words that stand for everything before it, where its own line has them. */
  readonly summary?: readonly Block[] | undefined
  /** What the model sees in place of everything before it, where its own line has that. They have no lines of their own. */
  readonly history?: readonly Entry[] | undefined
  /** Set where the last prompts before it stand in front of that, and its line does not hold them. */
  readonly keepsPrompts?: boolean | undefined
}

/** Something given to the model beside the words: environment, listings, files. The body is in `raw`. */
export interface ContextEntry extends Envelope {
  readonly kind: 'context'
}

/** Something the client says to the person: an API error, a hook's summary, how long a turn took. */
export interface NoticeEntry extends Envelope {
  readonly kind: 'notice'
  readonly level: string
  readonly text: string
}

/** A fact about the session that is no part of the conversation: title, mode, costs. The body is in `raw`. */
export interface RecordEntry extends Envelope {
  readonly kind: 'record'
  /** The record's value where it is one short text: the title, the mode, the working directory. */
  readonly value?: string | undefined
  /** The turn that it belongs to, where the agent gives turns ids of their own. */
  readonly turn?: string | undefined
  /** What the answer beside it cost. */
  readonly spent?: Spent | undefined
  /** What the session has cost so far, as its client counts. */
  readonly totals?: CostTotals | undefined
}

/**
 * A line of a subagent's conversation, written into the file of the session that it worked for. Some clients wrote a
 * subagent down like this, with or without a file of its own.
 */
export interface DelegatedEntry extends Envelope {
  readonly kind: 'delegated'
  /** The call that started the subagent, where the line names it. */
  readonly callId?: string | undefined
  /** What the subagent was told, said, called or was answered. It has the id and the place of the line. */
  readonly work: Exclude<Entry, DelegatedEntry>
  /** The subagent has a file of its own, which says it too: it is shown and found there. */
  readonly inFile?: true | undefined
}

/** A record too large to hold in memory. Its envelope is known; its body is read by streaming `place`. */
export interface OversizeEntry extends Envelope {
  readonly kind: 'oversize'
}

/** A line of a type nobody knows yet. Kept, counted and shown as what it is. */
export interface UnknownEntry extends Envelope {
  readonly kind: 'unknown'
}

/** What an entry says: that of a subagent's line is inside of it. */
export function workOf(entry: Entry): DelegatedEntry['work'] {
  return entry.kind === 'delegated' ? entry.work : entry
}

/** What provider-side tools are called with: the provider runs them, and no result follows. */
const PROVIDER_CALLS: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'image_generation_call',
  'code_interpreter_call',
  'server_tool_use',
])

/** A key for every call in an answer, those included that its provider runs itself. */
export function callKeysOf({ id, blocks }: ReplyEntry): readonly string[] {
  return blocks.flatMap((block, index) => {
    if (block.kind === 'tool-use') return [block.id]
    const isCall = block.kind === 'unknown' && PROVIDER_CALLS.has(string(block.value, 'type') ?? '')
    return isCall ? [`${id} ${index}`] : []
  })
}

/** Whether it is a wake-up that was sent as a prompt: nobody said it, and it counts as no prompt. */
export function isWakeUpEntry(entry: Entry): boolean {
  return entry.kind === 'prompt' && entry.origin === 'system' && isWakeUp(textOf(entry.blocks))
}

/** Entries that carry what was said or done, as opposed to what surrounds it. */
export function isSpoken(entry: Entry): boolean {
  return entry.kind === 'prompt' || entry.kind === 'reply' || entry.kind === 'result'
}

/** Whether an answer whose lines have no common id is over with this entry: it was billed, or somebody else spoke. */
export function endsAnswer(entry: Entry): boolean {
  switch (entry.kind) {
    case 'reply':
      return entry.part !== 'item'
    case 'prompt':
    case 'result':
    case 'injection':
    case 'summary':
    case 'compaction':
    case 'interruption':
    case 'command':
      return true
    case 'context':
    case 'notice':
    case 'record':
    case 'delegated':
    case 'oversize':
    case 'unknown':
      return false
  }
}
