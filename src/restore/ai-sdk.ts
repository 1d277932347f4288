import { string } from '#base'
import type { Block, ToolResultBlock } from '#model'
import { toFittingName } from './call-ids.ts'
import { createLossBook, type Loss, type LossBook } from './loss.ts'
import { toDescription, toPlaceholder, wordsOfDocument } from './media.ts'
import { ownOf, type Said, type SaidBlock, type SaidMessage } from './said.ts'
import { toSingleIds } from './single-ids.ts'
import { isSoundText } from './sound-text.ts'
import {
  noteErrorMark,
  noteUnknown,
  writeCall,
  writeFound,
  writeSound,
  writeText,
  type CallRules,
} from './writing.ts'

export interface ToAiSdk {
  /** `ModelMessage`s of Vercel's AI SDK. */
  readonly messages: readonly object[]
  readonly losses: readonly Loss[]
}

/** The SDK takes any; its providers are stricter, each in its own way. These are taken by all of them. */
const RULES: CallRules = {
  id: { pattern: /^[a-zA-Z0-9_-]+$/u, longest: 64 },
  name: { pattern: /^[a-zA-Z_][a-zA-Z0-9_-]*$/u, longest: 64 },
}

/** A conversation as Vercel's AI SDK takes it, whatever provider it is handed to then. */
export function toAiSdk(conversation: Said): ToAiSdk {
  const said = toSingleIds(conversation)
  const book = createLossBook(said.losses)
  const names = new Map<string, string>()
  const messages = said.messages.flatMap((message) =>
    message.role === 'assistant' ? toAssistant(message, { book, names }) : toOthers(message, { book, names }),
  )
  return { messages, losses: book.losses }
}

interface Writing {
  readonly book: LossBook
  readonly names: Map<string, string>
}

function toAssistant(message: SaidMessage, { book, names }: Writing): readonly object[] {
  const content = message.blocks.flatMap((said): readonly object[] => {
    const { block } = said
    switch (block.kind) {
      case 'text': {
        const text = writeText(said, block.text, book)
        return text === undefined ? [] : [{ type: 'text', text, ...optionsOf(message, said) }]
      }
      case 'thinking':
      case 'redacted-thinking':
        if (message.provider === 'anthropic' && isEdited(block)) {
          const why = 'it was edited or is not signed, and what remains is refused'
          book.note('thinking', said.origin, { how: 'dropped', why })
          return []
        }
        return [
          {
            type: 'reasoning',
            text: block.kind === 'thinking' ? writeSound(said, block.thinking, book) : '',
            ...optionsOf(message, said),
          },
        ]
      case 'tool-use': {
        const { id, name, input } = writeCall(said, block, { rules: RULES, book })
        names.set(block.id, name)
        return [
          {
            type: 'tool-call',
            toolCallId: id,
            toolName: name,
            input: input ?? {},
            ...optionsOf(message, said),
          },
        ]
      }
      case 'image':
      case 'document':
        if (block.source.kind === 'base64')
          return [{ type: 'file', data: block.source.data, mediaType: block.source.mediaType }]
        book.note('media', said.origin, { how: 'changed', why: 'an answer holds files by their bytes only' })
        return [{ type: 'text', text: toPlaceholder(block) }]
      case 'tool-result':
      case 'unknown':
        noteUnknown(said, book)
        return []
    }
  })
  return content.length === 0 ? [] : [{ role: 'assistant', content }]
}

/** Thinking of Anthropic's that it would not take back. */
function isEdited(block: Block): boolean {
  if (block.kind !== 'thinking') return false
  return (block.signature ?? '') === '' || !isSoundText(block.thinking)
}

/** What the provider of an answer wants back with it. */
function optionsOf({ provider }: SaidMessage, said: SaidBlock): object {
  const { block } = said
  if (provider === 'anthropic') {
    if (block.kind === 'thinking' && block.signature !== undefined)
      return { providerOptions: { anthropic: { signature: block.signature } } }
    if (block.kind === 'redacted-thinking')
      return { providerOptions: { anthropic: { redactedData: block.data } } }
    return {}
  }
  if (provider === 'openai' && (block.kind === 'thinking' || block.kind === 'redacted-thinking')) {
    const own = ownOf(said, 'openai')
    const encrypted = string(own, 'encrypted_content')
    const id = string(own, 'id')
    if (encrypted === undefined && id === undefined) return {}
    return { providerOptions: { openai: { itemId: id, reasoningEncryptedContent: encrypted ?? null } } }
  }
  const signature = string(ownOf(said, 'gemini'), 'thoughtSignature')
  return signature === undefined ? {} : { providerOptions: { google: { thoughtSignature: signature } } }
}

function toOthers(message: SaidMessage, { book, names }: Writing): readonly object[] {
  const results: object[] = []
  const content: object[] = []
  for (const said of message.blocks) {
    const { block, origin } = said
    switch (block.kind) {
      case 'tool-result':
        results.push(toResult(said, block, { book, names }))
        break
      case 'text': {
        const text = writeText(said, block.text, book)
        if (text !== undefined) content.push({ type: 'text', text })
        break
      }
      case 'image':
      case 'document':
        content.push(toFile(said, book))
        break
      case 'unknown': {
        const text = writeFound(said, book)
        if (text === undefined) noteUnknown(said, book)
        else content.push({ type: 'text', text })
        break
      }
      case 'thinking':
      case 'redacted-thinking':
      case 'tool-use':
        book.note('unknown-block', origin, { how: 'dropped', why: 'a user says nothing of this kind' })
        break
    }
  }
  return [
    ...(results.length === 0 ? [] : [{ role: 'tool', content: results }]),
    ...(content.length === 0 ? [] : [{ role: 'user', content }]),
  ]
}

function toFile({ block, origin }: SaidBlock, book: LossBook): object {
  if (block.kind !== 'image' && block.kind !== 'document') return { type: 'text', text: '' }
  const { source } = block
  const filename = block.kind === 'document' && block.title !== undefined ? { filename: block.title } : {}
  switch (source.kind) {
    case 'base64':
      return { type: 'file', data: source.data, mediaType: source.mediaType, ...filename }
    case 'url': {
      if (!URL.canParse(source.url)) break
      return {
        type: 'file',
        data: new URL(source.url),
        mediaType: block.kind === 'image' ? 'image/*' : 'application/pdf',
        ...filename,
      }
    }
    case 'text':
      return {
        type: 'file',
        data: Buffer.from(source.text).toString('base64'),
        mediaType: source.mediaType,
        ...filename,
      }
    case 'unknown':
      break
  }
  book.note('media', origin, { how: 'changed', why: toDescription(source) })
  return { type: 'text', text: toPlaceholder(block) }
}

/** Of images and documents in results. */
const NOT_IN_RESULTS = 'the AI SDK takes files in results by their bytes only'

function toResult(said: SaidBlock, block: ToolResultBlock, { book, names }: Writing): object {
  const texts = block.content.flatMap((each) => (each.kind === 'text' ? [each.text] : []))
  const isText = texts.length === block.content.length
  const value = isText ? writeSound(said, texts.join('\n\n'), book) : ''
  if (!isText && block.isError) noteErrorMark(said, book)
  const parts = (isText ? [] : block.content).flatMap((each): readonly object[] => {
    if (each.kind === 'text') return [{ type: 'text', text: writeSound(said, each.text, book) }]
    if ((each.kind === 'image' || each.kind === 'document') && each.source.kind === 'base64')
      return [{ type: 'media', data: each.source.data, mediaType: each.source.mediaType }]
    if (each.kind === 'image' || each.kind === 'document') {
      const words = wordsOfDocument(each.source)
      const why = words === undefined ? NOT_IN_RESULTS : 'a document of text goes as text'
      book.note('media', said.origin, { how: 'changed', why })
      return [
        { type: 'text', text: words === undefined ? toPlaceholder(each) : writeSound(said, words, book) },
      ]
    }
    const found = writeFound({ block: each, exact: undefined, origin: said.origin }, book)
    if (found !== undefined) return [{ type: 'text', text: found }]
    noteUnknown(said, book)
    return []
  })
  const output = isText
    ? { type: block.isError ? 'error-text' : 'text', value }
    : { type: 'content', value: parts }
  return {
    type: 'tool-result',
    toolCallId: toFittingName(block.toolUseId, RULES.id),
    toolName: names.get(block.toolUseId) ?? 'unknown',
    output,
  }
}
