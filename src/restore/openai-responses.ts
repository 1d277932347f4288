import { isObject, object, string, type JsonObject } from '#base'
import { createLossBook, type Loss } from './loss.ts'
import { toPlaceholder } from './media.ts'
import { toCallItem, toOutputItem, type ItemWriting } from './openai-calls.ts'
import { besideParts, toInputParts, without } from './openai-parts.ts'
import { ownOf, type Said, type SaidBlock, type SaidMessage } from './said.ts'
import { toSingleIds } from './single-ids.ts'
import { noteUnknown, writeOwnText } from './writing.ts'

export interface ToOpenAIResponses {
  /** The `input` of a request to the Responses API. */
  readonly input: readonly object[]
  readonly losses: readonly Loss[]
}

/**
 * A conversation as OpenAI's Responses API takes it: items, of which those that OpenAI made go back as they were, with
 * their ids and their encrypted reasoning. Calls stay calls and results stay results, under the same ids.
 */
export function toOpenAIResponses(conversation: Said): ToOpenAIResponses {
  const said = toSingleIds(conversation)
  const book = createLossBook(said.losses)
  const writing: ItemWriting = { book, types: new Map() }
  const input = said.messages.flatMap((message) =>
    message.role === 'assistant' ? toOutput(message, writing) : toInput(message, writing),
  )
  return { input, losses: book.losses }
}

interface Item {
  readonly item: object
  readonly said: SaidBlock
}

/** A message with an id, to which parts are added as long as they belong to it. */
interface OpenMessage {
  readonly id: string
  readonly entryId: string
  readonly content: object[]
}

function toOutput(message: SaidMessage, writing: ItemWriting): readonly object[] {
  const { book } = writing
  const items: Item[] = []
  const isOwn = message.provider === 'openai'
  let open: OpenMessage | undefined
  for (const said of message.blocks) {
    const { block, origin } = said
    const own = isOwn ? ownOf(said, 'openai') : undefined
    const add = (item: object): number => items.push({ item, said })
    const before = open
    open = undefined
    switch (block.kind) {
      case 'text': {
        const text = writeOwnText(said, block.text, { book, own })
        if (text === undefined) break
        const id = string(own, 'id')
        if (id === undefined) add(toPlainAnswer(text))
        else {
          open = before?.id === id ? before : { id, entryId: origin.entryId, content: [] }
          if (open !== before) add(toAnswer(own ?? {}, open.content))
          open.content.push(toAnswerPart(text, own))
        }
        break
      }
      case 'thinking':
      case 'redacted-thinking': {
        const item = own === undefined ? undefined : toReasoning(own, block)
        const why = 'another provider thought it, or it came without its encrypted form'
        if (item === undefined) book.note('thinking', origin, { how: 'dropped', why })
        else add(item)
        break
      }
      case 'tool-use':
        add(toCallItem(said, block, { ...writing, own, isOwn }))
        break
      case 'unknown': {
        const refusal = isOwn ? toRefusal(block.value) : undefined
        if (refusal !== undefined && before?.entryId === origin.entryId) {
          open = before
          before.content.push(refusal)
        } else if (refusal !== undefined) add(toPlainAnswer(string(refusal, 'refusal') ?? ''))
        else if (own !== undefined) add(own)
        else if (isOwn && isObject(block.value)) add(block.value)
        else noteUnknown(said, book)
        break
      }
      case 'image':
      case 'document':
        book.note('media', origin, { how: 'changed', why: 'an answer holds text and calls only' })
        add(toPlainAnswer(toPlaceholder(block)))
        break
      case 'tool-result':
        book.note('order', origin, { how: 'dropped', why: 'a result stands in an answer' })
        break
    }
  }
  return withoutLonely(items, writing)
}

/** Reasoning goes back with what it led to, or not at all. */
function withoutLonely(items: readonly Item[], { book }: ItemWriting): readonly object[] {
  let isFollowed = false
  const kept = items.toReversed().filter(({ item, said }) => {
    const isReasoning = string(item, 'type') === 'reasoning'
    if (!isReasoning) isFollowed = true
    if (!isReasoning || isFollowed) return true
    const why = 'nothing follows it, and reasoning alone is refused'
    book.note('thinking', said.origin, { how: 'dropped', why })
    return false
  })
  return kept.toReversed().map(({ item }) => item)
}

/** Words of the assistant that have no id of OpenAI's: an output without one is refused. */
function toPlainAnswer(text: string): object {
  return { type: 'message', role: 'assistant', content: text }
}

function toAnswer(own: JsonObject, content: readonly object[]): object {
  return { type: 'message', role: 'assistant', ...without(own, [...besideParts, 'type', 'role']), content }
}

function toAnswerPart(text: string, own: JsonObject | undefined): object {
  const part = object(own, 'part')
  if (string(part, 'type') === 'refusal') return { ...part, type: 'refusal', refusal: text }
  const { annotations, logprobs } = own ?? {}
  return {
    type: 'output_text',
    text,
    ...(annotations === undefined ? {} : { annotations }),
    ...(logprobs === undefined ? {} : { logprobs }),
    ...without(part ?? {}, ['type']),
  }
}

function toRefusal(value: unknown): JsonObject | undefined {
  return isObject(value) && value['type'] === 'refusal' && string(value, 'refusal') ? value : undefined
}

function toReasoning(own: JsonObject, block: SaidBlock['block']): object | undefined {
  if ((string(own, 'encrypted_content') ?? '') === '') return undefined
  const summary =
    own['summary'] ??
    (block.kind === 'thinking' && block.thinking !== ''
      ? [{ type: 'summary_text', text: block.thinking }]
      : [])
  return { ...own, type: 'reasoning', summary }
}

/** What was said in one entry is one message, and each result is an item. */
function toInput(message: SaidMessage, writing: ItemWriting): readonly object[] {
  const items: object[] = []
  let open: { readonly entryId: string; readonly content: object[] } | undefined
  for (const said of message.blocks) {
    const { block, origin } = said
    if (block.kind === 'tool-result') {
      open = undefined
      items.push(toOutputItem(said, block, writing))
      continue
    }
    const parts = toInputParts(said, writing.book)
    if (parts.length === 0) continue
    if (open?.entryId !== origin.entryId) {
      open = { entryId: origin.entryId, content: [] }
      items.push(toMessage(said, open.content, writing))
    }
    open.content.push(...parts)
  }
  return items
}

const ROLES: ReadonlySet<string> = new Set(['developer', 'system'])

function toMessage(said: SaidBlock, content: readonly object[], { book }: ItemWriting): object {
  const own = ownOf(said, 'openai')
  const role = string(own, 'role') ?? 'user'
  if (string(own, 'author') !== undefined) {
    const why = 'what one agent says to another goes as the words of a user'
    book.note('context', said.origin, { how: 'changed', why })
    return { type: 'message', role: 'user', content }
  }
  // Notes that other interfaces of OpenAI left on a message are not its own.
  const isItem = own !== undefined && ('role' in own || own['type'] === 'message')
  const rest = isItem ? without(own, [...besideParts, 'type', 'role']) : {}
  return { type: 'message', role: ROLES.has(role) ? role : 'user', ...rest, content }
}
