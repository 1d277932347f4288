import { isObject, list, object, string, type JsonObject } from '#base'
import type { Block, MediaSource } from '#model'

/** Codex's own notes on an item. They are not sent to a model. */
export const NOTES = 'internal_chat_message_metadata_passthrough'

/**
 * What an item of OpenAI has beyond a block, under `openai`; what Codex noted of it, under `codex`. An item is put
 * together again from its blocks and this.
 */
export function toExtra(item: JsonObject, known: readonly string[]): JsonObject {
  const openai: Record<string, unknown> = {}
  for (const key of Object.keys(item)) {
    if (key === NOTES || known.includes(key)) continue
    // A key like any other in somebody else's JSON, and the only one that cannot be set like any other.
    if (key === '__proto__') Object.defineProperty(openai, key, { value: item[key], enumerable: true })
    else openai[key] = item[key]
  }
  const notes = object(item, NOTES)
  return notes === undefined ? { openai } : { openai, codex: notes }
}

/** An item without Codex's own notes on it: as it is sent. */
export function toSent(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== NOTES))
}

/** The parts of a message, or of what a tool gave back. A part that nobody knows is kept as it is. */
export function readParts(parts: readonly unknown[]): readonly Block[] {
  return parts.map(readPart)
}

function readPart(part: unknown): Block {
  switch (string(part, 'type')) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const text = string(part, 'text')
      return text === undefined || !isObject(part) ? { kind: 'unknown', value: part } : readText(part, text)
    }
    case 'input_image': {
      const url = string(part, 'image_url')
      return url === undefined || !isObject(part)
        ? { kind: 'unknown', value: part }
        : { kind: 'image', source: readUrl(url), extra: partExtra(part, ['type', 'image_url']) }
    }
    case 'input_file': {
      const url = string(part, 'file_data') ?? string(part, 'file_url')
      if (url === undefined || !isObject(part)) return { kind: 'unknown', value: part }
      const title = string(part, 'filename')
      const extra = partExtra(part, ['type', 'file_data', 'file_url', 'filename'])
      return { kind: 'document', source: readUrl(url), title, extra }
    }
    default:
      return { kind: 'unknown', value: part }
  }
}

function readText(part: JsonObject, text: string): Block {
  return { kind: 'text', text, extra: partExtra(part, ['type', 'text']) }
}

function partExtra(part: JsonObject, known: readonly string[]): JsonObject | undefined {
  const openai = Object.fromEntries(Object.entries(part).filter(([key]) => !known.includes(key)))
  return Object.keys(openai).length === 0 ? undefined : { openai }
}

function readUrl(url: string): MediaSource {
  const data = /^data:([^;,]*);base64,/u.exec(url)
  return data === null
    ? { kind: 'url', url }
    : { kind: 'base64', mediaType: data[1] ?? '', data: url.slice(data[0].length) }
}

/** What can be read of reasoning: its text where that is there, else its summary. */
export function readReasoning(item: JsonObject): Block {
  const texts = [...list(item, 'summary'), ...list(item, 'content')].flatMap(
    (part) => string(part, 'text') ?? [],
  )
  const extra = toExtra(item, [])
  const thinking = texts.join('\n\n')
  const data = string(item, 'encrypted_content')
  return thinking === '' && data !== undefined
    ? { kind: 'redacted-thinking', data, extra }
    : { kind: 'thinking', thinking, extra }
}
