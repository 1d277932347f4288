import { isObject, list, number, object, string, type JsonObject } from '#base'
import type { GeminiMessage } from './operations.ts'

/** The parts of a message: a text, one part, or a list of either. */
export function partsOf({ fields }: GeminiMessage): readonly JsonObject[] {
  const { content } = fields
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  if (isObject(content)) return [content]
  return list(fields, 'content').flatMap((part) =>
    typeof part === 'string' ? [{ text: part }] : isObject(part) ? [part] : [],
  )
}

/** What was said, without what was thought. */
export function textOfParts(parts: readonly JsonObject[]): string {
  return parts.flatMap((part) => (part['thought'] === true ? [] : (string(part, 'text') ?? []))).join('')
}

/** Text that the client puts in the user's place. */
export function isContext(part: JsonObject): boolean {
  return /^\s*<(?:session_context|hook_context)>/u.test(string(part, 'text') ?? '')
}

/** Whether a message says nothing but what the client puts into every session. */
export function isContextOnly(message: GeminiMessage): boolean {
  const parts = partsOf(message)
  return string(message.fields, 'type') === 'user' && parts.length > 0 && parts.every(isContext)
}

/** The thoughts of a message: beside its content, or in it. A resumed session has them in it, in one line each. */
export function thoughtsOf(message: GeminiMessage, parts: readonly JsonObject[]): readonly string[] {
  const beside = list(message.fields, 'thoughts').map((thought) => {
    const subject = string(thought, 'subject') ?? ''
    const description = string(thought, 'description') ?? ''
    return subject === '' ? description : `**${subject}** ${description}`
  })
  const within = parts.flatMap((part) => (part['thought'] === true ? (string(part, 'text') ?? []) : []))
  return [...beside, ...within].filter((thought) => thought !== '')
}

export interface GeminiCall {
  readonly id: string
  readonly block: JsonObject
  /** Its result, once there is one. */
  readonly result: JsonObject | undefined
  /** The subagent that it started. */
  readonly agentId: string | undefined
}

/** The calls of a message: beside its content with their results, or in it without. */
export function callsOf(message: GeminiMessage, parts: readonly JsonObject[]): readonly GeminiCall[] {
  const within = parts.flatMap((part, index): readonly GeminiCall[] => {
    const call = part['functionCall']
    if (!isObject(call)) return []
    const id = string(call, 'id') ?? `${message.id}:part${String(index)}`
    const signature = string(part, 'thoughtSignature')
    const gemini = signature === undefined ? {} : { gemini: { thoughtSignature: signature } }
    return [{ id, block: { ...toUse(call, id), ...gemini }, result: undefined, agentId: undefined }]
  })
  const beside = list(message.fields, 'toolCalls').map((call, index): GeminiCall => {
    const id = string(call, 'id') ?? `${message.id}:call${String(index)}`
    return { id, block: toUse(call, id), result: findResult(call, id), agentId: string(call, 'agentId') }
  })
  return [...within, ...beside]
}

function toUse(call: unknown, id: string): JsonObject {
  return { type: 'tool_use', id, name: string(call, 'name') ?? 'unknown', input: object(call, 'args') ?? {} }
}

/** The result that stands with a call. One that runs has none. */
function findResult(call: unknown, id: string): JsonObject | undefined {
  const status = string(call, 'status')
  const failed = status === 'error' || status === 'cancelled'
  const response = list(call, 'result')
    .map((part) => object(part, 'functionResponse'))
    .find((found) => found !== undefined)
  // For models that take no media in a result, the client puts them behind it.
  const behind = list(call, 'result').filter((part) => isObject(part) && !('functionResponse' in part))
  if (response !== undefined)
    return toResult({ ...response, parts: [...list(response, 'parts'), ...behind] }, id, failed)
  if (status !== 'success' && !failed) return undefined
  const shown = string(call, 'resultDisplay') ?? ''
  const content = shown === '' ? [] : [{ type: 'text', text: shown }]
  return { type: 'tool_result', tool_use_id: id, content, is_error: failed }
}

/** A tool's answer as a block. What is more than a text is kept beside it, as it was. */
export function toResult(response: JsonObject, id: string, failed: boolean): JsonObject {
  const said = object(response, 'response')
  const output = string(said, 'output')
  const error = string(said, 'error')
  const text = output ?? error ?? (said === undefined ? '' : JSON.stringify(said))
  const isPlain = Object.keys(said ?? {}).length === 1 && (output !== undefined || error !== undefined)
  const media = list(response, 'parts').flatMap((part) => (isObject(part) ? [toBlock(part)] : []))
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: [...(text === '' ? [] : [{ type: 'text', text }]), ...media],
    is_error: failed || error !== undefined,
    ...(isPlain || said === undefined ? {} : { gemini: { response: said } }),
  }
}

/** A part that is neither a call nor a result. One that nobody knows is kept as it is. */
export function toBlock(part: JsonObject): JsonObject {
  const text = string(part, 'text')
  if (text !== undefined) return { type: 'text', text }
  const inline = object(part, 'inlineData')
  const data = string(inline, 'data')
  const mediaType = string(inline, 'mimeType') ?? 'application/octet-stream'
  if (data !== undefined) {
    const type = mediaType.startsWith('image/') ? 'image' : 'document'
    return { type, source: { type: 'base64', media_type: mediaType, data } }
  }
  const uri = string(object(part, 'fileData'), 'fileUri')
  if (uri === undefined) return part
  const isImage = string(object(part, 'fileData'), 'mimeType')?.startsWith('image/') === true
  return { type: isImage ? 'image' : 'document', source: { type: 'url', url: uri }, gemini: part }
}

/** What an answer cost. Gemini counts what was cached as input, and thoughts beside the output. */
export function usageOf({ fields }: GeminiMessage): JsonObject | undefined {
  const tokens = object(fields, 'tokens')
  if (tokens === undefined) return undefined
  const cached = number(tokens, 'cached') ?? 0
  return {
    input_tokens: Math.max(0, (number(tokens, 'input') ?? 0) - cached),
    output_tokens: (number(tokens, 'output') ?? 0) + (number(tokens, 'thoughts') ?? 0),
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
  }
}
