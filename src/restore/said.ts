import { object, parseJson } from '#base'
import {
  endsAnswer,
  toContent,
  type Block,
  type Entry,
  type Provider,
  type ReplyEntry,
  type ToolUseBlock,
} from '#model'
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
  /** Of an answer: who gave it, under which id. */
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
        addResult(entry, calls, { drafts, book })
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
  return finish(drafts, book)
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

function addResult(
  entry: Entry & { readonly kind: 'result' },
  calls: ReadonlyMap<string, AnswerDraft>,
  { drafts, book }: { readonly drafts: Draft[]; readonly book: LossBook },
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
    if (draft === undefined) {
      const why = `the result of ${said.block.toolUseId} answers no call of this conversation`
      book.note('orphan-result', said.origin, { how: 'dropped', why })
    } else if (draft.answers.has(said.block.toolUseId)) {
      const why = `the call ${said.block.toolUseId} was answered before`
      book.note('second-result', said.origin, { how: 'dropped', why })
    } else draft.answers.set(said.block.toolUseId, said)
  }
  if (beside.length === 0) return
  if (owner === undefined) drafts.push({ kind: 'user', blocks: beside })
  else owner.beside.push(...beside)
}

function finish(drafts: readonly Draft[], book: LossBook): Said {
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
      pending.push(block)
      book.note('pending-call', origin, { how: 'added', why: `the call ${block.name} was never answered` })
      results.push(interrupted(block, origin))
    }
    say('user', [...results, ...draft.beside])
  }
  return { messages, pending, losses: book.losses }
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

/** Blocks with the JSON they were read from: a provider that signed something wants it back as it was. */
function saidBlocks(entry: Entry, blocks: readonly Block[]): readonly SaidBlock[] {
  const content = contentOf(entry)
  const exact = content?.length === blocks.length ? content : undefined
  return blocks.map((block, index) => ({
    block,
    exact: exact === undefined ? toContent(block) : exact[index],
    origin: originOf(entry, index),
  }))
}

function exactBlocks(entry: Entry): readonly SaidBlock[] {
  return (contentOf(entry) ?? []).flatMap((exact, index) => {
    const text = object({ exact }, 'exact')?.['text']
    if (typeof text !== 'string') return []
    return [{ block: { kind: 'text', text } as const, exact, origin: originOf(entry, index) }]
  })
}

function contentOf({ raw }: Entry): readonly unknown[] | undefined {
  if (raw.length === 0) return undefined
  const content = object(parseJson(new TextDecoder().decode(raw)), 'message')?.['content']
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : undefined
}
