import { isObject, string, type JsonObject } from '#base'

/**
 * A part of an entry. Known kinds are normalised; fields nobody knows yet travel in `extra`, and a block of an
 * unknown kind is kept whole in `value`.
 */
export type Block =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ToolResultBlock
  | ImageBlock
  | DocumentBlock
  | UnknownBlock

interface Extra {
  /** Fields of the original that have no name here. */
  readonly extra?: JsonObject | undefined
}

export interface TextBlock extends Extra {
  readonly kind: 'text'
  readonly text: string
}

export interface ThinkingBlock extends Extra {
  readonly kind: 'thinking'
  readonly thinking: string
  readonly signature?: string | undefined
}

export interface RedactedThinkingBlock extends Extra {
  readonly kind: 'redacted-thinking'
  readonly data: string
}

export interface ToolUseBlock extends Extra {
  readonly kind: 'tool-use'
  readonly id: string
  readonly name: string
  readonly input: unknown
  /** What a person made run instead, where they changed it before they allowed it. */
  readonly changed?: { readonly input: unknown; readonly by: string } | undefined
}

export interface ToolResultBlock extends Extra {
  readonly kind: 'tool-result'
  readonly toolUseId: string
  /** A string content is read as one text block. */
  readonly content: readonly Block[]
  readonly isError: boolean
}

export interface ImageBlock extends Extra {
  readonly kind: 'image'
  readonly source: MediaSource
}

export interface DocumentBlock extends Extra {
  readonly kind: 'document'
  readonly source: MediaSource
  readonly title?: string | undefined
}

export interface UnknownBlock {
  readonly kind: 'unknown'
  readonly value: unknown
}

/** Where the bytes of an image or document are. */
export type MediaSource =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly kind: 'unknown'; readonly value: unknown }

/** Reads the `content` of a message: a string or a list of blocks. Never throws, never drops. */
export function readBlocks(content: unknown): readonly Block[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  if (Array.isArray(content)) return content.map(readBlock)
  return content === undefined || content === null ? [] : [{ kind: 'unknown', value: content }]
}

/** The words of some blocks, one paragraph per text block. */
export function textOf(blocks: readonly Block[]): string {
  let text = ''
  for (const block of blocks) {
    if (block.kind === 'text') text = text === '' ? block.text : `${text}\n\n${block.text}`
  }
  return text
}

function readBlock(value: unknown): Block {
  return (isObject(value) && readKnown(value)) || { kind: 'unknown', value }
}

/** Fields that are read of each kind. Constants, because this runs for every block of every transcript. */
const TEXT_FIELDS = ['type', 'text']
const THINKING_FIELDS = ['type', 'thinking', 'signature']
const REDACTED_FIELDS = ['type', 'data']
const TOOL_USE_FIELDS = ['type', 'id', 'name', 'input']
const TOOL_RESULT_FIELDS = ['type', 'tool_use_id', 'content', 'is_error']
const IMAGE_FIELDS = ['type', 'source']
const DOCUMENT_FIELDS = ['type', 'source', 'title']

function readKnown(value: JsonObject): Block | undefined {
  switch (value['type']) {
    case 'text': {
      const text = value['text']
      return typeof text === 'string' ? { kind: 'text', text, extra: extra(value, TEXT_FIELDS) } : undefined
    }
    case 'thinking': {
      const thinking = value['thinking']
      if (typeof thinking !== 'string') return undefined
      const signature = string(value, 'signature')
      return { kind: 'thinking', thinking, signature, extra: extra(value, THINKING_FIELDS) }
    }
    case 'redacted_thinking': {
      const data = value['data']
      if (typeof data !== 'string') return undefined
      return { kind: 'redacted-thinking', data, extra: extra(value, REDACTED_FIELDS) }
    }
    case 'tool_use': {
      const id = value['id']
      const name = value['name']
      if (typeof id !== 'string' || typeof name !== 'string') return undefined
      return { kind: 'tool-use', id, name, input: value['input'], extra: extra(value, TOOL_USE_FIELDS) }
    }
    case 'tool_result': {
      const toolUseId = value['tool_use_id']
      if (typeof toolUseId !== 'string') return undefined
      return {
        kind: 'tool-result',
        toolUseId,
        content: readBlocks(value['content']),
        isError: value['is_error'] === true,
        extra: extra(value, TOOL_RESULT_FIELDS),
      }
    }
    case 'image': {
      const source = value['source']
      if (!isObject(source)) return undefined
      return { kind: 'image', source: readSource(source), extra: extra(value, IMAGE_FIELDS) }
    }
    case 'document': {
      const source = value['source']
      if (!isObject(source)) return undefined
      const title = string(value, 'title')
      return { kind: 'document', source: readSource(source), title, extra: extra(value, DOCUMENT_FIELDS) }
    }
    default:
      return undefined
  }
}

function readSource(source: JsonObject): MediaSource {
  const mediaType = string(source, 'media_type')
  const data = source['data']
  switch (source['type']) {
    case 'base64':
      if (typeof data === 'string') return { kind: 'base64', mediaType: mediaType ?? '', data }
      break
    case 'url': {
      const url = string(source, 'url')
      if (url !== undefined) return { kind: 'url', url }
      break
    }
    case 'text': {
      const text = typeof data === 'string' ? data : string(source, 'text')
      if (text !== undefined) return { kind: 'text', mediaType: mediaType ?? 'text/plain', text }
      break
    }
    case 'raw': {
      const bytes = readBytes(data)
      if (bytes !== undefined) return { kind: 'base64', mediaType: mediaType ?? '', data: toBase64(bytes) }
      break
    }
    default:
      break
  }
  return { kind: 'unknown', value: source }
}

function extra(value: JsonObject, known: readonly string[]): JsonObject | undefined {
  let unknown: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    unknown ??= {}
    // `__proto__` is a key like any other in somebody else's JSON.
    Object.defineProperty(unknown, key, { value: value[key], enumerable: true })
  }
  return unknown
}

function readBytes(data: unknown): Uint8Array | undefined {
  if (data instanceof Uint8Array) return data
  const bytes = Array.isArray(data) ? data : findListed(data)
  return bytes?.every(isByte) === true ? Uint8Array.from(bytes) : undefined
}

/** What `JSON.stringify` makes of a `Buffer`, and of any other list of bytes: its numbers under their places. */
function findListed(data: unknown): readonly unknown[] | undefined {
  if (!isObject(data)) return undefined
  if (data['type'] === 'Buffer' && Array.isArray(data['data'])) return data['data']
  const values = Object.values(data)
  return Object.keys(data).every((key, at) => key === String(at)) && values.length > 0 ? values : undefined
}

function isByte(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** `btoa` is not part of the language, and this room has no other platform than the language. */
function toBase64(bytes: Uint8Array): string {
  let out = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const first = bytes[at] ?? 0
    const second = bytes[at + 1]
    const third = bytes[at + 2]
    const bits = (first << 16) | ((second ?? 0) << 8) | (third ?? 0)
    out += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63)
    out += second === undefined ? '=' : ALPHABET.charAt((bits >> 6) & 63)
    out += third === undefined ? '=' : ALPHABET.charAt(bits & 63)
  }
  return out
}
