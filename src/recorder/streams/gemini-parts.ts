import { boolean, isObject, object, string, type JsonObject } from '#base'
import { beside, toSource, toText, without, withoutEmpty } from './content-blocks.ts'
import type { MadeIds } from './made-ids.ts'

/** What a model of Gemini said, part by part, in the one form of recordings. */
export interface PartBlocks {
  add(part: JsonObject): void
  readonly blocks: readonly JsonObject[]
}

/**
 * Collects parts. Pieces of one text come one after the other and are put together, but never over a signature: a
 * signed part goes back to the provider as it came. What has no counterpart is kept under the name of its field.
 */
export function createPartBlocks(ids: MadeIds): PartBlocks {
  const blocks: JsonObject[] = []
  return {
    add(part) {
      const block = fromPart(part, ids)
      // Streams often end with an empty text, which says nothing unless it is signed.
      if (isEmpty(block)) return
      const joined = join(blocks.at(-1), block)
      if (joined) blocks[blocks.length - 1] = joined
      else blocks.push(block)
    },
    blocks,
  }
}

function fromPart(part: JsonObject, ids: MadeIds): JsonObject {
  const text = string(part, 'text')
  if (text !== undefined) {
    const rest = without(part, ['text', 'thought'])
    if (boolean(part, 'thought') === true)
      return { type: 'thinking', thinking: text, ...beside('gemini', rest) }
    return { type: 'text', text, ...beside('gemini', rest) }
  }
  const call = object(part, 'functionCall')
  if (call) return fromCall(part, call, ids)
  const media = object(part, 'inlineData') ?? object(part, 'fileData')
  if (media) return fromMedia(part, media)
  const [kind = 'unknown'] = Object.keys(part).filter((key) => isObject(part[key]))
  return { type: kind, gemini: part }
}

function isEmpty(block: JsonObject): boolean {
  return !('gemini' in block) && (block['text'] === '' || block['thinking'] === '')
}

function fromCall(part: JsonObject, call: JsonObject, ids: MadeIds): JsonObject {
  const name = string(call, 'name') ?? ''
  const input = object(call, 'args') ?? {}
  const id = string(call, 'id')
  const rest = { ...without(part, ['functionCall']), ...without(call, ['name', 'args', 'id']) }
  return {
    type: 'tool_use',
    id: id === undefined || id === '' ? ids.next(name, input) : id,
    name,
    input,
    ...beside('gemini', rest),
  }
}

function fromMedia(part: JsonObject, media: JsonObject): JsonObject {
  const mime = string(media, 'mimeType') ?? ''
  const data = string(media, 'data')
  const uri = string(media, 'fileUri')
  const type = mime.startsWith('image/') ? 'image' : mime === 'application/pdf' ? 'document' : undefined
  if (type === undefined || (data === undefined && uri === undefined))
    return { type: data === undefined ? 'fileData' : 'inlineData', gemini: part }
  const rest = {
    ...without(part, ['inlineData', 'fileData']),
    ...without(media, ['data', 'fileUri', ...(data === undefined ? [] : ['mimeType'])]),
  }
  const source = data === undefined ? toSource(uri ?? '') : { type: 'base64', media_type: mime, data }
  return { type, source, ...beside('gemini', rest) }
}

function join(before: JsonObject | undefined, block: JsonObject): JsonObject | undefined {
  if (before === undefined || 'gemini' in before || 'gemini' in block) return undefined
  const key = before['type'] === 'text' ? 'text' : before['type'] === 'thinking' ? 'thinking' : undefined
  if (key === undefined || before['type'] !== block['type']) return undefined
  return { ...before, [key]: (string(before, key) ?? '') + (string(block, key) ?? '') }
}

/** The fields in which a function says what it gave, when that is words. */
const OUTPUTS = ['output', 'result', 'content', 'error']

/** The result that a `functionResponse` is, for the call of this id. */
export function fromFunctionResponse(part: JsonObject, id: string): JsonObject {
  const answer = object(part, 'functionResponse') ?? {}
  const response = object(answer, 'response') ?? {}
  const [only, ...others] = Object.keys(response)
  const key = others.length === 0 && OUTPUTS.find((name) => name === only)
  const words = typeof key === 'string' ? string(response, key) : undefined
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: words ?? toText(response),
    ...(only === 'error' && others.length === 0 ? { is_error: true } : {}),
    gemini: withoutEmpty({
      ...without(part, ['functionResponse']),
      ...without(answer, ['response', 'id']),
      field: words === undefined ? undefined : key,
    }),
  }
}
