import { isObject, string, type JsonObject } from '#base'
import type { Block, ToolResultBlock, ToolUseBlock } from '#model'
import { toFittingName } from './call-ids.ts'
import { createLossBook, type Loss, type LossBook } from './loss.ts'
import { IMAGE_TYPES, toPlaceholder } from './media.ts'
import type { Said, SaidBlock, SaidMessage } from './said.ts'
import { toSingleIds } from './single-ids.ts'
import { isSoundText } from './sound-text.ts'
import { findWrong } from './troubles/wrong-block.ts'
import { noteUnknown, writeCall, writeSound, writeText, type CallRules } from './writing.ts'

/** A message as the Messages API takes it. */
export interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly object[]
}

export interface ToAnthropic {
  readonly messages: readonly AnthropicMessage[]
  readonly losses: readonly Loss[]
}

const RULES: CallRules = {
  id: { pattern: /^[a-zA-Z0-9_-]+$/u, longest: 256 },
  name: { pattern: /^[a-zA-Z0-9_-]+$/u, longest: 128 },
}

/** What is said to begin with where a conversation begins with an answer: the API wants a user first. */
const OPENING = '(The conversation goes on from here.)'

/**
 * A conversation as Anthropic's Messages API takes it. What this provider said goes back as it was, block by block;
 * what another said in its own way is written in Anthropic's, or told among the losses.
 */
export function toAnthropic(conversation: Said): ToAnthropic {
  const said = toSingleIds(conversation)
  const book = createLossBook(said.losses)
  const messages: { role: 'user' | 'assistant'; content: object[] }[] = []
  const images = countImages(said)
  for (const message of said.messages) {
    const content = toAnthropicContent(message, book, { images })
    if (content.length === 0) continue
    const last = messages.at(-1)
    if (last === undefined && message.role === 'assistant') {
      const origin = message.blocks[0]?.origin ?? { entryId: '', index: 0 }
      book.note('order', origin, {
        how: 'added',
        why: 'a conversation begins with a user, and this one did not',
      })
      messages.push({ role: 'user', content: [{ type: 'text', text: OPENING }] })
    }
    if (last !== undefined && last.role === message.role) last.content.push(...content)
    else messages.push({ role: message.role, content: [...content] })
  }
  return { messages: withoutLastThoughts(messages, said, book), losses: book.losses }
}

/** An answer that is nothing but thinking is refused where it is the last thing that was said. */
function withoutLastThoughts(
  messages: readonly AnthropicMessage[],
  said: Said,
  book: LossBook,
): readonly AnthropicMessage[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || !last.content.every(isThought)) return messages
  const why = 'an answer that is thinking alone is refused in last place'
  const answer = said.messages.findLast(({ role }) => role === 'assistant')
  for (const { block, origin } of answer?.blocks ?? [])
    if (block.kind === 'thinking' || block.kind === 'redacted-thinking')
      book.note('thinking', origin, { how: 'dropped', why })
  return messages.slice(0, -1)
}

function isThought(block: object): boolean {
  return ['thinking', 'redacted_thinking'].includes(string(block, 'type') ?? '')
}

function countImages({ messages }: Said): number {
  let count = 0
  const look = ({ kind }: Block): number => (kind === 'image' ? count++ : count)
  for (const { block } of messages.flatMap(({ blocks }) => blocks)) {
    look(block)
    if (block.kind === 'tool-result') block.content.forEach(look)
  }
  return count
}

interface Writing {
  readonly book: LossBook
  /** How many pictures there are in all: with many, each may be smaller only. */
  readonly images: number
}

/** The content of one message as the Messages API takes it. */
export function toAnthropicContent(
  message: SaidMessage,
  book: LossBook,
  { images = 0 }: { readonly images?: number } = {},
): readonly object[] {
  return message.blocks.flatMap((block) => toBlock(message, block, { book, images }))
}

function toBlock(message: SaidMessage, said: SaidBlock, writing: Writing): readonly object[] {
  const { block, origin } = said
  const { book } = writing
  const isOwn =
    message.provider === 'anthropic' || (message.role === 'user' && message.provider === 'unknown')
  switch (block.kind) {
    case 'text':
      return toText(said, book)
    case 'thinking':
      return toThinking(said, isOwn, book)
    case 'redacted-thinking':
      if (isOwn && isObject(said.exact)) return [said.exact]
      book.note('thinking', origin, {
        how: 'dropped',
        why: 'only the provider that encrypted it can read it',
      })
      return []
    case 'tool-use':
      return [toToolUse(said, block, book)]
    case 'tool-result':
      return [toToolResult(said, block, { ...writing, isOwn })]
    case 'image':
    case 'document':
      return [toMedia(said, block, writing)]
    case 'unknown':
      if ((isOwn || isFound(said)) && isObject(said.exact)) return [said.exact]
      noteUnknown(said, book)
      return []
  }
}

/** Something that was found, in a form that is Anthropic's whoever was told of it. */
function isFound({ block }: SaidBlock): boolean {
  return (
    block.kind === 'unknown' &&
    ['search_result', 'tool_reference'].includes(string(block.value, 'type') ?? '')
  )
}

function toText(said: SaidBlock, book: LossBook): readonly object[] {
  if (said.block.kind !== 'text') return []
  const text = writeText(said, said.block.text, book)
  return text === undefined ? [] : [onlyKnown(said.exact, text)]
}

/** Text as it stood, without what other providers noted beside it. */
function onlyKnown(exact: unknown, text: string): object {
  if (!isObject(exact) || exact['text'] !== text) return { type: 'text', text }
  return withoutForeign(exact)
}

/** Fields that our own recordings keep for other providers. */
const FOREIGN = ['openai', 'gemini']

function withoutForeign(exact: JsonObject): JsonObject {
  if (!FOREIGN.some((key) => key in exact)) return exact
  return Object.fromEntries(Object.entries(exact).filter(([key]) => !FOREIGN.includes(key)))
}

/** Thinking goes back exactly as it was signed, or not at all: what was edited is refused. */
function toThinking(said: SaidBlock, isOwn: boolean, book: LossBook): readonly object[] {
  const { block, exact, origin } = said
  if (block.kind !== 'thinking') return []
  const drop = (why: string): readonly object[] => {
    book.note('thinking', origin, { how: 'dropped', why })
    return []
  }
  if (!isOwn) return drop('another provider thought it')
  if (block.signature === undefined || block.signature === '') return drop('it has no signature')
  if (!isSoundText(block.thinking))
    return drop('half characters in it would be refused, and it must not be edited')
  return isObject(exact) ? [exact] : drop('it cannot be given back as it was')
}

function toToolUse(said: SaidBlock, block: ToolUseBlock, book: LossBook): object {
  const { id, name, input } = writeCall(said, block, { rules: RULES, book })
  if (!isObject(input)) {
    book.note('tool-input', said.origin, { how: 'changed', why: 'the input of a call must be an object' })
    return { type: 'tool_use', id, name, input: { input: input ?? null } }
  }
  const isSame = id === block.id && name === block.name && input === block.input
  if (isSame && isObject(said.exact) && said.exact['type'] === 'tool_use') return withoutForeign(said.exact)
  return { type: 'tool_use', id, name, input }
}

function toToolResult(
  said: SaidBlock,
  block: ToolResultBlock,
  { book, images, isOwn }: Writing & { readonly isOwn: boolean },
): object {
  const id = toFittingName(block.toolUseId, RULES.id)
  const inner = block.content.map((each) => ({
    block: each,
    exact: exactInside(said.exact, block, each),
    origin: said.origin,
  }))
  const losses = createLossBook()
  const content = inner.flatMap((each) => toResultBlock(each, { book: losses, images, isOwn }))
  const isSame = losses.losses.length === 0 && id === block.toolUseId
  for (const { kind, origin, how, why } of losses.losses) book.note(kind, origin, { how, why })
  if (
    isSame &&
    isObject(said.exact) &&
    said.exact['type'] === 'tool_result' &&
    said.exact['content'] !== null
  )
    return withoutForeign(said.exact)
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content.length === 0 ? {} : { content }),
    ...(block.isError ? { is_error: true } : {}),
  }
}

/** What a result holds: text and pictures, and what else there is as text. */
function toResultBlock(
  said: SaidBlock,
  { book, images, isOwn }: Writing & { readonly isOwn: boolean },
): readonly object[] {
  const { block } = said
  if (block.kind === 'text') return toText(said, book)
  if (block.kind === 'image' || block.kind === 'document') return [toMedia(said, block, { book, images })]
  if ((isOwn || isFound(said)) && isObject(said.exact)) return [said.exact]
  noteUnknown(said, book)
  return []
}

function exactInside(
  exact: unknown,
  { content }: { readonly content: readonly Block[] },
  block: Block,
): unknown {
  const list = isObject(exact) ? exact['content'] : undefined
  if (typeof list === 'string') return { type: 'text', text: list }
  return Array.isArray(list) ? list[content.indexOf(block)] : undefined
}

function toMedia(
  said: SaidBlock,
  block: Block & { readonly kind: 'image' | 'document' },
  { book, images }: Writing,
): object {
  const { source } = block
  const { origin, exact } = said
  const wrong =
    block.kind === 'image' ? findWrong(block, { images, provider: 'anthropic', where: 'said' }) : undefined
  if (wrong !== undefined) {
    book.note('media', origin, { how: 'changed', why: wrong.reason })
    return { type: 'text', text: toPlaceholder(block) }
  }
  if (isTaken(block) && isObject(exact)) {
    return source.kind === 'base64' && isRaw(exact)
      ? {
          ...withoutForeign(exact),
          source: { type: 'base64', media_type: source.mediaType, data: source.data },
        }
      : withoutForeign(exact)
  }
  if (block.kind === 'document' && source.kind === 'text' && source.mediaType !== 'text/plain') {
    book.note('media', origin, {
      how: 'changed',
      why: `a document of type ${source.mediaType} goes as plain text`,
    })
    return {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: writeSound(said, source.text, book) },
    }
  }
  book.note('media', origin, { how: 'changed', why: 'the Messages API does not take it in this form' })
  return { type: 'text', text: toPlaceholder(block) }
}

function isRaw(exact: JsonObject): boolean {
  return isObject(exact['source']) && exact['source']['type'] === 'raw'
}

function isTaken({ kind, source }: Block & { readonly kind: 'image' | 'document' }): boolean {
  switch (source.kind) {
    case 'base64':
      if (source.data === '') return false
      return kind === 'image' ? IMAGE_TYPES.has(source.mediaType) : source.mediaType === 'application/pdf'
    case 'url':
      return /^https?:/u.test(source.url)
    case 'text':
      return kind === 'document' && source.mediaType === 'text/plain' && source.text !== ''
    case 'unknown':
      // A file that the provider keeps, and whatever it may think of next.
      return true
  }
}
