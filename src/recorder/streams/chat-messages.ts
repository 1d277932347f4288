import { isObject, list, object, string, type JsonObject } from '#base'
import { beside, readArguments, without } from './content-blocks.ts'
import { fromParts } from './openai-items.ts'

/**
 * A message of Chat Completions in the one form of recordings: its thoughts where a compatible server sends them, its
 * words, its refusal, its calls.
 */
export function fromChatMessage(message: JsonObject): readonly JsonObject[] {
  const call = object(message, 'function_call')
  const audio = object(message, 'audio')
  return [
    ...fromThoughts(message),
    ...fromChatContent(message['content']),
    ...fromRefusal(message),
    ...list(message, 'tool_calls').filter(isObject).map(fromToolCall),
    ...(call ? [fromFunction({ id: toFunctionId(call), call, rest: { type: 'function_call' } })] : []),
    ...(audio ? [{ type: 'audio', openai: { audio } }] : []),
  ]
}

/** The content of a message: words, or parts. */
export function fromChatContent(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  const parts: readonly unknown[] = content
  return fromParts(parts)
}

/** The id of a call of the time when calls had none: there was one in a message, and its result names it. */
export function toFunctionId(call: JsonObject): string {
  return `function_${string(call, 'name') ?? ''}`
}

/** The field in which compatible servers put what the model thought. */
const THOUGHTS = ['reasoning_content', 'reasoning']

function fromThoughts(message: JsonObject): readonly JsonObject[] {
  const key = THOUGHTS.find((name) => (string(message, name) ?? '') !== '')
  const details = list(message, 'reasoning_details')
  if (key === undefined && details.length === 0) return []
  const kept = { field: key, ...(details.length > 0 ? { reasoning_details: details } : {}) }
  return [{ type: 'thinking', thinking: string(message, key ?? '') ?? '', ...beside('openai', kept) }]
}

function fromRefusal(message: JsonObject): readonly JsonObject[] {
  const refusal = string(message, 'refusal') ?? ''
  return refusal === '' ? [] : [{ type: 'text', text: refusal, openai: { part: { type: 'refusal' } } }]
}

function fromToolCall(call: JsonObject): JsonObject {
  const id = string(call, 'id') ?? ''
  const custom = object(call, 'custom')
  if (custom) {
    const input = { input: string(custom, 'input') ?? '' }
    const rest = without(call, ['id', 'custom', 'index'])
    return { type: 'tool_use', id, name: string(custom, 'name') ?? '', input, ...beside('openai', rest) }
  }
  const rest = without(call, ['id', 'function', 'index'])
  const isPlain =
    Object.keys(rest).length === 0 || (Object.keys(rest).length === 1 && rest['type'] === 'function')
  return fromFunction({ id, call: object(call, 'function') ?? {}, rest: isPlain ? {} : rest })
}

interface FunctionCall {
  readonly id: string
  readonly call: JsonObject
  readonly rest: JsonObject
}

function fromFunction({ id, call, rest }: FunctionCall): JsonObject {
  const { input, raw } = readArguments(string(call, 'arguments') ?? '')
  const kept = { ...rest, ...without(call, ['name', 'arguments']), arguments: raw }
  return { type: 'tool_use', id, name: string(call, 'name') ?? '', input, ...beside('openai', kept) }
}
