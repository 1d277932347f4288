import { object, type JsonObject } from '#base'
import {
  endsAnswer,
  toContent,
  type Block,
  type Entry,
  type Provider,
  type ReplyEntry,
  type ToolUseBlock,
} from '#model'
import { toGapLosses, type Gaps } from './gaps.ts'
import { createLossBook, type Loss, type LossBook, type Origin } from './loss.ts'
import { saysThinkingIsRefused } from './troubles/refusals.ts'
import { exactBlocks, originOf, saidBlocks } from './said-blocks.ts'

/**
 * A conversation in the order in which providers take it: users and assistants in turns, the blocks of one answer
 * together, and directly behind them the results of its calls, in the order of the calls.
 */
export interface Said {
  readonly messages: readonly SaidMessage[]
  /** Calls that nobody answered. */
  readonly pending: readonly ToolUseBlock[]
  readonly losses: readonly Loss[]
}

export interface SaidMessage {
  readonly role: 'user' | 'assistant'
  readonly blocks: readonly SaidBlock[]
  /** Of an answer: who gave it, under which id. Of a user: who is spoken to. */
  readonly provider: Provider
  readonly id?: string | undefined
  readonly model?: string | undefined
}

export interface SaidBlock {
  readonly block: Block
  /** As it stands in its line. */
  readonly exact: unknown
  readonly origin: Origin
}

/** What is answered to a call that nobody answered: the agent was stopped, or died. */
export const INTERRUPTED = 'The call was interrupted: it may have run, and nothing is known of its result.'

/** Puts the entries of a conversation in the order in which providers take them. What could not be read is a loss. */
export function toSaid(entries: readonly Entry[], gaps?: Gaps): Said {
  const book = createLossBook(gaps === undefined ? [] : toGapLosses(entries, gaps))
  const drafts: Draft[] = []
  const replies = new Map<string, AnswerDraft>()
  const calls = new Map<string, AnswerDraft>()
  const early = new Map<string, SaidBlock>()
  /** The answer that an item without an id of its message goes on with. */
  let open: AnswerDraft | undefined
  let isRefused = false
  for (const entry of entries) {
    const answer = open
    if (entry.kind === 'reply')
      isRefused = entry.synthetic ? isRefused || saysThinkingIsRefused(entry) : false
    if (endsAnswer(entry)) open = undefined
    switch (entry.kind) {
      case 'reply': {
        const draft = addReply(entry, { drafts, replies, calls, answer, book })
        if (entry.part === 'item') open = draft
        break
      }
      case 'result':
        addResult(entry, calls, { drafts, early, book })
        break
      case 'prompt':
      case 'injection':
      case 'summary':
        drafts.push({ kind: 'user', blocks: saidBlocks(entry, entry.blocks, book) })
        break
      case 'interruption':
        drafts.push({ kind: 'user', blocks: saidBlocks(entry, [{ kind: 'text', text: entry.text }], book) })
        break
      case 'command':
        // Only what was written as a user's line has been in the model's window.
        if (entry.type === 'user') drafts.push({ kind: 'user', blocks: exactBlocks(entry) })
        break
      case 'oversize':
        book.note('oversize', originOf(entry, 0), {
          how: 'dropped',
          why: `a ${entry.type} line of ${entry.place.length} bytes is too large to hold`,
        })
        break
      case 'context':
      case 'notice':
      case 'compaction':
      case 'record':
      case 'delegated':
      case 'unknown':
        break
    }
  }
  return finish(isRefused ? drafts.map((draft) => withoutThinking(draft, book)) : drafts, early, book)
}

/** Thinking that its provider refused, which alone knows whether it was changed. */
function withoutThinking(draft: Draft, book: LossBook): Draft {
  if (draft.kind === 'user' || draft.provider !== 'anthropic') return draft
  const blocks = draft.blocks.filter(({ block: { kind }, origin }) => {
    const isThinking = kind === 'thinking' || kind === 'redacted-thinking'
    if (isThinking)
      book.note('thinking', origin, {
        how: 'dropped',
        why: 'the provider refused the thinking in this session',
      })
    return !isThinking
  })
  return { ...draft, blocks }
}

type Draft = AnswerDraft | { readonly kind: 'user'; readonly blocks: readonly SaidBlock[] }

interface AnswerDraft {
  readonly kind: 'answer'
  readonly provider: Provider
  readonly id: string | undefined
  readonly model: string | undefined
  readonly blocks: SaidBlock[]
  readonly answers: Map<string, SaidBlock>
  /** What a user said in the same line as a result. */
  readonly beside: SaidBlock[]
}

interface Drafts {
  readonly drafts: Draft[]
  readonly replies: Map<string, AnswerDraft>
  readonly calls: Map<string, AnswerDraft>
  readonly answer: AnswerDraft | undefined
  readonly book: LossBook
}

function addReply(
  entry: ReplyEntry,
  { drafts, replies, calls, answer, book }: Drafts,
): AnswerDraft | undefined {
  if (entry.synthetic || entry.part === 'end') return undefined
  let draft = entry.part === 'item' ? answer : undefined
  if (entry.messageId !== undefined) draft ??= replies.get(entry.messageId)
  if (draft === undefined) {
    draft = {
      kind: 'answer',
      provider: entry.provider ?? 'anthropic',
      id: entry.messageId,
      model: entry.model,
      blocks: [],
      answers: new Map(),
      beside: [],
    }
    drafts.push(draft)
    if (entry.messageId !== undefined) replies.set(entry.messageId, draft)
  }
  for (const said of saidBlocks(entry, entry.blocks, book)) {
    draft.blocks.push(said)
    if (said.block.kind === 'tool-use') calls.set(said.block.id, draft)
  }
  return draft
}

interface Results {
  readonly drafts: Draft[]
  /** Results that no call was there for yet. */
  readonly early: Map<string, SaidBlock>
  readonly book: LossBook
}

function addResult(
  entry: Entry & { readonly kind: 'result' },
  calls: ReadonlyMap<string, AnswerDraft>,
  { drafts, early, book }: Results,
): void {
  let owner: AnswerDraft | undefined
  const beside: SaidBlock[] = []
  for (const said of saidBlocks(entry, entry.blocks, book)) {
    if (said.block.kind !== 'tool-result') {
      beside.push(said)
      continue
    }
    const draft = calls.get(said.block.toolUseId)
    owner ??= draft
    if (draft === undefined) early.set(said.block.toolUseId, said)
    else if (draft.answers.has(said.block.toolUseId)) {
      const why = `the call ${said.block.toolUseId} was answered before`
      book.note('second-result', said.origin, { how: 'dropped', why })
    } else draft.answers.set(said.block.toolUseId, said)
  }
  if (beside.length === 0) return
  if (owner === undefined) drafts.push({ kind: 'user', blocks: beside })
  else owner.beside.push(...beside)
}

function finish(drafts: readonly Draft[], early: Map<string, SaidBlock>, book: LossBook): Said {
  const messages: SaidMessage[] = []
  const pending: ToolUseBlock[] = []
  const say = (role: 'user' | 'assistant', blocks: readonly SaidBlock[]): void => {
    const last = messages.at(-1)
    if (blocks.length === 0) return
    if (role === 'user' && last?.role === 'user') {
      messages[messages.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] }
    } else messages.push({ role, blocks, provider: 'unknown' })
  }
  for (const draft of drafts) {
    if (draft.kind === 'user') {
      say('user', draft.blocks)
      continue
    }
    if (draft.blocks.length === 0) continue
    const { provider, id, model, blocks } = draft
    messages.push({ role: 'assistant', blocks, provider, id, model })
    const results: SaidBlock[] = []
    for (const { block, origin } of blocks) {
      if (block.kind !== 'tool-use') continue
      const answer = draft.answers.get(block.id)
      if (answer !== undefined) {
        results.push(answer)
        continue
      }
      const before = early.get(block.id)
      if (before !== undefined) {
        early.delete(block.id)
        const why = `the result of ${block.id} stood before its call`
        book.note('order', before.origin, { how: 'changed', why })
        results.push(before)
        continue
      }
      pending.push(block)
      book.note('pending-call', origin, { how: 'added', why: `the call ${block.name} was never answered` })
      results.push(interrupted(block, origin))
    }
    say('user', [...results, ...draft.beside])
  }
  for (const [id, { origin }] of early) {
    const why = `the result of ${id} answers no call of this conversation`
    book.note('orphan-result', origin, { how: 'dropped', why })
  }
  return { messages: messages.map(withListener), pending, losses: book.losses }
}

/** A user speaks to the one that answers, or spoke before: what only that one knows is for it alone. */
function withListener(message: SaidMessage, at: number, messages: readonly SaidMessage[]): SaidMessage {
  if (message.role === 'assistant') return message
  const answer = messages[at + 1] ?? messages[at - 1]
  return answer === undefined ? message : { ...message, provider: answer.provider }
}

function interrupted({ id }: ToolUseBlock, origin: Origin): SaidBlock {
  const block: Block = {
    kind: 'tool-result',
    toolUseId: id,
    content: [{ kind: 'text', text: INTERRUPTED }],
    isError: true,
  }
  return { block, exact: toContent(block), origin }
}

/** What a provider noted of a block, which our own recordings and readers keep for it. */
export function ownOf({ block }: SaidBlock, provider: 'openai' | 'gemini'): JsonObject | undefined {
  return object(block.kind === 'unknown' ? block.value : block.extra, provider)
}
