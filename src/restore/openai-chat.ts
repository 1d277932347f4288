import { isObject } from '#base'
import type { ToolResultBlock, ToolUseBlock } from '#model'
import { toFittingName } from './call-ids.ts'
import { createLossBook, type Loss, type LossBook } from './loss.ts'
import { IMAGE_TYPES, toDataUrl, toPlaceholder } from './media.ts'
import type { Said, SaidBlock, SaidMessage } from './said.ts'
import { OPENAI_RULES as RULES } from './openai-rules.ts'
import { toSoundText } from './sound-text.ts'
import { noteErrorMark, noteUnknown, writeCall, writeText } from './writing.ts'

export interface ToOpenAIChat {
  /** The `messages` of a request to Chat Completions. */
  readonly messages: readonly object[]
  readonly losses: readonly Loss[]
}

/**
 * A conversation as Chat Completions takes it. It has no place for reasoning, and none for pictures in results: the
 * first is told among the losses, the others go with the words of the user that follow.
 */
export function toOpenAIChat(said: Said): ToOpenAIChat {
  const book = createLossBook(said.losses)
  const messages = said.messages.flatMap((message) =>
    message.role === 'assistant' ? toAssistant(message, book) : toUser(message, book),
  )
  return { messages, losses: book.losses }
}

function toAssistant(message: SaidMessage, book: LossBook): readonly object[] {
  const texts: string[] = []
  const calls: object[] = []
  for (const said of message.blocks) {
    const { block, origin } = said
    switch (block.kind) {
      case 'text': {
        const text = writeText(said, block.text, book)
        if (text !== undefined) texts.push(text)
        break
      }
      case 'tool-use':
        calls.push(toCall(said, block, book))
        break
      case 'thinking':
      case 'redacted-thinking':
        book.note('thinking', origin, { how: 'dropped', why: 'Chat Completions has no place for reasoning' })
        break
      case 'image':
      case 'document':
        book.note('media', origin, { how: 'changed', why: 'an answer holds text and calls only' })
        texts.push(toPlaceholder(block))
        break
      case 'tool-result':
      case 'unknown':
        noteUnknown(said, book)
        break
    }
  }
  if (texts.length === 0 && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: texts.length === 0 ? null : texts.join('\n\n'),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ]
}

function toCall(said: SaidBlock, block: ToolUseBlock, book: LossBook): object {
  const { id, name, input } = writeCall(said, block, { rules: RULES, book })
  const given = isObject(input) ? input : { input: input ?? null }
  if (given !== input)
    book.note('tool-input', said.origin, { how: 'changed', why: 'the input of a call must be an object' })
  return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } }
}

function toUser(message: SaidMessage, book: LossBook): readonly object[] {
  const results: object[] = []
  const parts: object[] = []
  for (const said of message.blocks) {
    if (said.block.kind === 'tool-result') results.push(toResult(said, said.block, { book, parts }))
    else parts.push(...toParts(said, book))
  }
  const [only] = parts
  const isPlain = parts.length === 1 && only !== undefined && 'text' in only
  const content = isPlain ? only.text : parts
  return [...results, ...(parts.length === 0 ? [] : [{ role: 'user', content }])]
}

function toResult(
  said: SaidBlock,
  block: ToolResultBlock,
  { book, parts }: { readonly book: LossBook; readonly parts: object[] },
): object {
  const texts: string[] = []
  for (const each of block.content) {
    if (each.kind === 'text') {
      texts.push(toSoundText(each.text))
      continue
    }
    const moved = toParts({ block: each, exact: undefined, origin: said.origin }, book)
    if (moved.length === 0) continue
    book.note('media', said.origin, {
      how: 'changed',
      why: 'results are text here: it goes with the words that follow',
    })
    parts.push(...moved)
  }
  if (block.isError) noteErrorMark(said, book)
  return { role: 'tool', tool_call_id: toFittingName(block.toolUseId, RULES.id), content: texts.join('\n\n') }
}

function toParts(said: SaidBlock, book: LossBook): readonly object[] {
  const { block, origin } = said
  switch (block.kind) {
    case 'text': {
      const text = writeText(said, block.text, book)
      return text === undefined ? [] : [{ type: 'text', text }]
    }
    case 'image':
      if (
        block.source.kind === 'base64' &&
        IMAGE_TYPES.has(block.source.mediaType) &&
        block.source.data !== ''
      )
        return [{ type: 'image_url', image_url: { url: toDataUrl(block.source) } }]
      if (block.source.kind === 'url') return [{ type: 'image_url', image_url: { url: block.source.url } }]
      break
    case 'document':
      if (block.source.kind === 'base64' && block.source.mediaType === 'application/pdf')
        return [
          {
            type: 'file',
            file: { filename: block.title ?? 'document.pdf', file_data: toDataUrl(block.source) },
          },
        ]
      if (block.source.kind === 'text') {
        book.note('media', origin, { how: 'changed', why: 'a document of text goes as text' })
        return [{ type: 'text', text: toSoundText(block.source.text) }]
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
  book.note('media', origin, { how: 'changed', why: 'Chat Completions does not take it in this form' })
  return [{ type: 'text', text: toPlaceholder(block) }]
}
