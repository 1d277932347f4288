import { isObject, object, string, type JsonObject } from '#base'
import type { ToolResultBlock, ToolUseBlock } from '#model'
import { toFittingName } from './call-ids.ts'
import { createLossBook, type Loss, type LossBook } from './loss.ts'
import { toDataUrl, toPlaceholder, wordsOfDocument } from './media.ts'
import { toImageUrl, without } from './openai-parts.ts'
import { OPENAI_RULES as RULES } from './openai-rules.ts'
import { ownOf, type Said, type SaidBlock, type SaidMessage } from './said.ts'
import { noteErrorMark, noteUnknown, writeCall, writeFound, writeOwnText, writeSound } from './writing.ts'

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
  const refusals: string[] = []
  const calls: object[] = []
  const isOwn = message.provider === 'openai'
  for (const said of message.blocks) {
    const { block, origin } = said
    const own = isOwn ? ownOf(said, 'openai') : undefined
    switch (block.kind) {
      case 'text': {
        const text = writeOwnText(said, block.text, { book, own })
        if (text === undefined) break
        const isRefusal = string(object(own, 'part'), 'type') === 'refusal'
        if (isRefusal) refusals.push(text)
        else texts.push(text)
        break
      }
      case 'tool-use':
        calls.push(toCall(said, block, { book, own }))
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
  if (texts.length === 0 && refusals.length === 0 && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: texts.length === 0 ? null : texts.join('\n\n'),
      ...(refusals.length === 0 ? {} : { refusal: refusals.join('\n\n') }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ]
}

const CUSTOM: ReadonlySet<string> = new Set(['custom', 'custom_tool_call'])

function toCall(
  said: SaidBlock,
  block: ToolUseBlock,
  { book, own }: { readonly book: LossBook; readonly own: JsonObject | undefined },
): object {
  const { id, name, input } = writeCall(said, block, { rules: RULES, book })
  const text = string(input, 'input')
  if (CUSTOM.has(string(own, 'type') ?? '') && text !== undefined)
    return { id, type: 'custom', custom: { name, input: text } }
  const exact = string(own, 'arguments')
  if (exact !== undefined) return { id, type: 'function', function: { name, arguments: exact } }
  const given = isObject(input) ? input : { input: input ?? null }
  if (given !== input)
    book.note('tool-input', said.origin, { how: 'changed', why: 'the input of a call must be an object' })
  return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } }
}

/** Results first, each a message; then what was said, each entry a message. What stood in results goes with the first. */
function toUser(message: SaidMessage, book: LossBook): readonly object[] {
  const results: object[] = []
  const moved: object[] = []
  const spoken: { readonly said: SaidBlock; readonly parts: object[] }[] = []
  for (const said of message.blocks) {
    const { block, origin } = said
    if (block.kind === 'tool-result') {
      results.push(toResult(said, block, { book, moved }))
      continue
    }
    const parts = toParts(said, book)
    if (parts.length === 0) continue
    const last = spoken.at(-1)
    if (last?.said.origin.entryId === origin.entryId) last.parts.push(...parts)
    else spoken.push({ said, parts: [...parts] })
  }
  const [first] = spoken
  if (first === undefined)
    return [...results, ...(moved.length === 0 ? [] : [{ role: 'user', content: moved }])]
  first.parts.unshift(...moved)
  return [...results, ...spoken.map(({ said, parts }) => toSpoken(said, parts))]
}

const ROLES: ReadonlySet<string> = new Set(['developer', 'system'])

function toSpoken(said: SaidBlock, parts: readonly object[]): object {
  const own = ownOf(said, 'openai')
  const given = string(own, 'role') ?? 'user'
  const name = string(own, 'name')
  const [only] = parts
  const isPlain = parts.length === 1 && only !== undefined && Object.keys(only).join() === 'type,text'
  return {
    role: ROLES.has(given) ? given : 'user',
    ...(name === undefined ? {} : { name }),
    content: isPlain ? string(only, 'text') : parts,
  }
}

function toResult(
  said: SaidBlock,
  block: ToolResultBlock,
  { book, moved }: { readonly book: LossBook; readonly moved: object[] },
): object {
  const texts: string[] = []
  for (const each of block.content) {
    const inner = { block: each, exact: undefined, origin: said.origin }
    const text = each.kind === 'text' ? writeSound(inner, each.text, book) : writeFound(inner, book)
    if (text !== undefined) {
      texts.push(text)
      continue
    }
    const parts = toParts(inner, book)
    if (parts.length === 0) continue
    book.note('media', said.origin, {
      how: 'changed',
      why: 'results are text here: it goes with the words that follow',
    })
    moved.push(...parts)
  }
  if (block.isError) noteErrorMark(said, book)
  return { role: 'tool', tool_call_id: toFittingName(block.toolUseId, RULES.id), content: texts.join('\n\n') }
}

/** Parts that Chat Completions takes in a form that only it knows: sound, a file that it keeps. */
const OWN_PARTS: ReadonlySet<string> = new Set(['input_audio', 'file'])

function toParts(said: SaidBlock, book: LossBook): readonly object[] {
  const { block, origin } = said
  const own = ownOf(said, 'openai')
  const beside = without(object(own, 'part') ?? {}, ['type'])
  switch (block.kind) {
    case 'text': {
      const text = writeOwnText(said, block.text, { book, own })
      return text === undefined ? [] : [{ type: 'text', text, ...beside }]
    }
    case 'image': {
      const url = toImageUrl(said)
      if (url === undefined) break
      const detail = string(beside, 'detail') ?? string(own, 'detail')
      return [{ type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } }]
    }
    case 'document': {
      const { source, title } = block
      if (source.kind === 'base64' && source.mediaType === 'application/pdf' && source.data !== '')
        return [{ type: 'file', file: { filename: title ?? 'document.pdf', file_data: toDataUrl(source) } }]
      const words = wordsOfDocument(source)
      if (words !== undefined) {
        book.note('media', origin, { how: 'changed', why: 'a document of text goes as text' })
        return [{ type: 'text', text: writeSound(said, words, book) }]
      }
      break
    }
    case 'unknown': {
      const found = writeFound(said, book)
      if (found !== undefined) return [{ type: 'text', text: found }]
      if (isObject(block.value) && OWN_PARTS.has(string(block.value, 'type') ?? '')) return [block.value]
      noteUnknown(said, book)
      return []
    }
    case 'thinking':
    case 'redacted-thinking':
    case 'tool-use':
    case 'tool-result':
      noteUnknown(said, book)
      return []
  }
  book.note('media', origin, { how: 'changed', why: 'Chat Completions does not take it in this form' })
  return [{ type: 'text', text: toPlaceholder(block) }]
}
