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
import { readExactContent } from './exact-content.ts'
import { createLossBook, type Loss, type LossBook, type Origin } from './loss.ts'

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

/** Puts the entries of a conversation in the order in which providers take them. */
export function toSaid(entries: Iterable<Entry>): Said {
  const book = createLossBook()
  const drafts: Draft[] = []
  const replies = new Map<string, AnswerDraft>()
  const calls = new Map<string, AnswerDraft>()
  const early = new Map<string, SaidBlock>()
  /** The answer that an item without an id of its message goes on with. */
  let open: AnswerDraft | undefined
  for (const entry of entries) {
    const answer = open
    if (endsAnswer(entry)) open = undefined
    switch (entry.kind) {
      case 'reply': {
        const draft = addReply(entry, { drafts, replies, calls, answer })
        if (entry.part === 'item') open = draft
        break
      }
      case 'result':
        addResult(entry, calls, { drafts, early, book })
        break
      case 'prompt':
      case 'injection':
      case 'summary':
        drafts.push({ kind: 'user', blocks: saidBlocks(entry, entry.blocks) })
        break
      case 'interruption':
        drafts.push({ kind: 'user', blocks: saidBlocks(entry, [{ kind: 'text', text: entry.text }]) })
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
      case 'unknown':
        break
    }
  }
  return finish(drafts, early, book)
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
}

function addReply(entry: ReplyEntry, { drafts, replies, calls, answer }: Drafts): AnswerDraft | undefined {
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
  for (const said of saidBlocks(entry, entry.blocks)) {
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
  for (const said of saidBlocks(entry, entry.blocks)) {
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

function originOf(entry: Entry, index: number): Origin {
  return { entryId: entry.id, index }
}

/**
 * Blocks with the JSON they were read from: a provider that signed something wants it back as it was. It is looked for
 * when somebody asks for it: those who write in another form do not.
 */
function saidBlocks(entry: Entry, blocks: readonly Block[]): readonly SaidBlock[] {
  let content: readonly unknown[] | undefined
  const exactOf = (index: number): unknown => {
    content ??= readExactContent(entry, blocks) ?? []
    const block = blocks[index]
    return content.length === blocks.length || block === undefined ? content[index] : toContent(block)
  }
  return blocks.map((block, index) => ({
    block,
    get exact(): unknown {
      return exactOf(index)
    },
    origin: originOf(entry, index),
  }))
}

/** What a provider noted of a block, which our own recordings and readers keep for it. */
export function ownOf({ block }: SaidBlock, provider: 'openai' | 'gemini'): JsonObject | undefined {
  return object(block.kind === 'unknown' ? block.value : block.extra, provider)
}

function exactBlocks(entry: Entry): readonly SaidBlock[] {
  return (readExactContent(entry, []) ?? []).flatMap((exact, index) => {
    const text = object({ exact }, 'exact')?.['text']
    if (typeof text !== 'string') return []
    return [{ block: { kind: 'text', text } as const, exact, origin: originOf(entry, index) }]
  })
}
