import { isObject, list, object, parseJson, type JsonObject } from '#base'
import { BLOBS_FIELD, putBlobsBack, toContent, type Block, type Entry } from '#model'

/**
 * The content of a message as it stands in its line: what a provider signed goes back to it as it was. Nothing where
 * the line has none, as with agents that write in a form of their own.
 */
export function readExactContent({ raw }: Entry, blocks: readonly Block[]): readonly unknown[] | undefined {
  if (raw.length === 0) return undefined
  const line = parseJson(toText(raw))
  if (!isObject(line)) return undefined
  const whole = BLOBS_FIELD in line ? withBlobs(line, blocks) : line
  const content = object(whole, 'message')?.['content']
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : undefined
}

function toText(raw: Uint8Array): string {
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8')
}

/** The line with what was long back in its place. Whoever read the entry has it: it is in the blocks. */
function withBlobs(line: JsonObject, blocks: readonly Block[]): JsonObject {
  const { line: filled } = putBlobsBack(line, ({ path: [part, key, index, ...way], json }) => {
    if (part !== 'message' || key !== 'content') return undefined
    const [only] = blocks
    if (index === undefined && json !== true) return only?.kind === 'text' ? only.text : undefined
    if (index === undefined) return JSON.stringify(blocks.map(toContent))
    const block = blocks[Number(index)]
    const value = block === undefined ? undefined : valueIn(toContent(block), way)
    if (typeof value !== 'string') return undefined
    return json === true ? JSON.stringify(value) : value
  })
  return filled
}

function valueIn(content: unknown, way: readonly (string | number)[]): unknown {
  let value = content
  for (const step of way) {
    if (Array.isArray(value)) value = value[Number(step)]
    else value = isObject(value) ? value[String(step)] : undefined
  }
  // A result that is a text is read as the one part of a list.
  return Array.isArray(value) && value.length === 1 ? list({ value }, 'value').map(textOf)[0] : value
}

function textOf(part: unknown): unknown {
  return isObject(part) ? part['text'] : undefined
}
