import { isObject, object, string, type JsonObject } from '#base'
import type { Block, ToolResultBlock, ToolUseBlock } from '#model'
import { toFittingName } from './call-ids.ts'
import { createLossBook, type Loss, type LossBook } from './loss.ts'
import { IMAGE_TYPES, toDataUrl, toPlaceholder } from './media.ts'
import type { Said, SaidBlock, SaidMessage } from './said.ts'
import { OPENAI_RULES as RULES } from './openai-rules.ts'
import { toSoundText } from './sound-text.ts'
import { noteErrorMark, noteUnknown, writeCall, writeText } from './writing.ts'

export interface ToOpenAIResponses {
  /** The `input` of a request to the Responses API. */
  readonly input: readonly object[]
  readonly losses: readonly Loss[]
}

/**
 * A conversation as OpenAI's Responses API takes it: items, of which those that OpenAI made go back as they were, with
 * their ids and their encrypted reasoning. Calls stay calls and results stay results, under the same ids.
 */
export function toOpenAIResponses(said: Said): ToOpenAIResponses {
  const book = createLossBook(said.losses)
  const custom = new Set<string>()
  const input = said.messages.flatMap((message) =>
    message.role === 'assistant' ? toOutput(message, { book, custom }) : toInput(message, { book, custom }),
  )
  return { input, losses: book.losses }
}

interface Writing {
  readonly book: LossBook
  /** Calls whose input is a text, not an object: their results are of another type too. */
  readonly custom: Set<string>
}

/** What OpenAI itself noted of a block when it made it. */
function ownItem({ exact }: SaidBlock): JsonObject | undefined {
  return object(exact, 'openai')
}

function toOutput(message: SaidMessage, { book, custom }: Writing): readonly object[] {
  const items: object[] = []
  const isOwn = message.provider === 'openai'
  for (const [index, said] of message.blocks.entries()) {
    const { block, origin } = said
    const own = isOwn ? ownItem(said) : undefined
    switch (block.kind) {
      case 'text': {
        const text = writeText(said, block.text, book)
        if (text === undefined) break
        items.push(toAnswer(text, own))
        break
      }
      case 'thinking':
      case 'redacted-thinking': {
        const item = own === undefined ? undefined : toReasoning(own, block)
        // Reasoning without what it led to is refused.
        const isFollowed = message.blocks
          .slice(index + 1)
          .some(({ block: { kind } }) => kind === 'text' || kind === 'tool-use')
        if (item !== undefined && isFollowed) items.push(item)
        else {
          const why =
            item === undefined
              ? 'another provider thought it, or it came without its encrypted form'
              : 'nothing follows it, and reasoning alone is refused'
          book.note('thinking', origin, { how: 'dropped', why })
        }
        break
      }
      case 'tool-use':
        items.push(toCall(said, block, { book, custom, own }))
        break
      case 'unknown':
        if (own !== undefined) items.push(own)
        else if (isOwn && isObject(block.value)) items.push(block.value)
        else noteUnknown(said, book)
        break
      case 'image':
      case 'document':
        book.note('media', origin, { how: 'changed', why: 'an answer holds text and calls only' })
        items.push(toAnswer(toPlaceholder(block)))
        break
      case 'tool-result':
        book.note('order', origin, { how: 'dropped', why: 'a result stands in an answer' })
        break
    }
  }
  return items
}

/** Words of the assistant: in the form of an output only with the id that OpenAI gave it. */
function toAnswer(text: string, own?: JsonObject): object {
  const id = string(own, 'id')
  if (id === undefined) return { type: 'message', role: 'assistant', content: text }
  return {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    ...pick(own, ['id', 'status', 'phase']),
    content: [{ type: 'output_text', text, annotations: own?.['annotations'] ?? [] }],
  }
}

function toReasoning(own: JsonObject, block: Block): object | undefined {
  if (typeof own['encrypted_content'] !== 'string') return undefined
  const summary =
    own['summary'] ??
    (block.kind === 'thinking' && block.thinking !== ''
      ? [{ type: 'summary_text', text: block.thinking }]
      : [])
  return { ...own, type: 'reasoning', summary }
}

function toCall(
  said: SaidBlock,
  block: ToolUseBlock,
  { book, custom, own }: Writing & { readonly own: JsonObject | undefined },
): object {
  const { id: call_id, name, input } = writeCall(said, block, { rules: RULES, book })
  const type = string(own, 'type')
  if (type === 'custom_tool_call' || (type === undefined && typeof input === 'string')) {
    custom.add(block.id)
    const text = string(own, 'input') ?? (typeof input === 'string' ? input : (string(input, 'input') ?? ''))
    return { ...pick(own, ['id', 'status']), type: 'custom_tool_call', call_id, name, input: text }
  }
  if (own !== undefined && type !== undefined && type !== 'function_call') return { ...own, call_id }
  return {
    ...pick(own, ['id', 'status', 'namespace']),
    type: 'function_call',
    call_id,
    name,
    arguments: string(own, 'arguments') ?? JSON.stringify(input ?? {}),
  }
}

function toInput(message: SaidMessage, writing: Writing): readonly object[] {
  const items: object[] = []
  let parts: object[] = []
  const flush = (): void => {
    if (parts.length > 0) items.push({ type: 'message', role: 'user', content: parts })
    parts = []
  }
  for (const said of message.blocks) {
    if (said.block.kind === 'tool-result') {
      flush()
      items.push(toResult(said, said.block, writing))
    } else parts.push(...toParts(said, writing.book))
  }
  flush()
  return items
}

function toResult(said: SaidBlock, block: ToolResultBlock, { book, custom }: Writing): object {
  const own = ownItem(said)
  const type = custom.has(block.toolUseId)
    ? 'custom_tool_call_output'
    : (string(own, 'type') ?? 'function_call_output')
  const call_id = toFittingName(block.toolUseId, RULES.id)
  if (block.isError && own === undefined) noteErrorMark(said, book)
  const texts = block.content.flatMap((each) => (each.kind === 'text' ? [each.text] : []))
  const isText = texts.length === block.content.length
  const output = isText
    ? toSoundText(texts.join('\n\n'))
    : block.content.flatMap((each) => toParts({ block: each, exact: undefined, origin: said.origin }, book))
  return { ...pick(own, ['id', 'status']), type, call_id, output: own?.['output'] ?? output }
}

/** What a user, or a tool, hands over. */
function toParts(said: SaidBlock, book: LossBook): readonly object[] {
  const { block, origin } = said
  switch (block.kind) {
    case 'text': {
      const text = writeText(said, block.text, book)
      return text === undefined ? [] : [{ type: 'input_text', text }]
    }
    case 'image':
      if (
        block.source.kind === 'base64' &&
        IMAGE_TYPES.has(block.source.mediaType) &&
        block.source.data !== ''
      )
        return [{ type: 'input_image', detail: 'auto', image_url: toDataUrl(block.source) }]
      if (block.source.kind === 'url')
        return [{ type: 'input_image', detail: 'auto', image_url: block.source.url }]
      break
    case 'document':
      if (block.source.kind === 'base64' && block.source.mediaType === 'application/pdf')
        return [
          { type: 'input_file', filename: block.title ?? 'document.pdf', file_data: toDataUrl(block.source) },
        ]
      if (block.source.kind === 'url') return [{ type: 'input_file', file_url: block.source.url }]
      if (block.source.kind === 'text') {
        book.note('media', origin, { how: 'changed', why: 'a document of text goes as text' })
        return [{ type: 'input_text', text: toSoundText(block.source.text) }]
      }
      break
    case 'thinking':
    case 'redacted-thinking':
    case 'tool-use':
    case 'tool-result':
    case 'unknown':
      noteUnknown(said, book)
      return []
  }
  book.note('media', origin, { how: 'changed', why: 'the Responses API does not take it in this form' })
  return [{ type: 'input_text', text: toPlaceholder(block) }]
}

function pick(own: JsonObject | undefined, keys: readonly string[]): JsonObject {
  if (own === undefined) return {}
  return Object.fromEntries(Object.entries(own).filter(([key]) => keys.includes(key)))
}
