import { isObject, list, object, string, type JsonObject } from '#base'
import type { RequestTurn } from '../streams/model-request.ts'

/** What the AI SDK hands to a model, as turns in the one form of recordings, and what its system says. */
export function readPrompt(prompt: readonly unknown[]): {
  readonly system: string
  readonly turns: readonly RequestTurn[]
} {
  const system: string[] = []
  const turns: RequestTurn[] = []
  for (const message of prompt) {
    const role = string(message, 'role')
    if (role === 'system') system.push(string(message, 'content') ?? '')
    else if (role === 'assistant') turns.push({ role, content: toBlocks(message) })
    else turns.push({ role: 'user', content: toBlocks(message) })
  }
  return { system: system.join('\n\n'), turns }
}

/** The blocks of an answer, or of a message of a prompt. */
export function toBlocks(message: unknown): readonly JsonObject[] {
  return list(message, 'content').flatMap((part) => (isObject(part) ? [toBlock(part)] : []))
}

function toBlock(part: JsonObject): JsonObject {
  switch (string(part, 'type')) {
    case 'text':
      return { type: 'text', text: string(part, 'text') ?? '', ...kept(part, []) }
    case 'reasoning':
      return toThinking(part)
    case 'tool-call':
      return {
        type: 'tool_use',
        id: string(part, 'toolCallId') ?? '',
        name: string(part, 'toolName') ?? '',
        ...toInput(part['input']),
        ...kept(part, []),
      }
    case 'tool-result':
      return toResult(part)
    case 'file':
      return toFile(part)
    default:
      return { ...part }
  }
}

function toThinking(part: JsonObject): JsonObject {
  const { anthropic } = metadataOf(part)
  const sealed = string(anthropic, 'redactedData')
  if (sealed !== undefined) return { type: 'redacted_thinking', data: sealed }
  const signature = string(anthropic, 'signature')
  return {
    type: 'thinking',
    thinking: string(part, 'text') ?? '',
    ...(signature === undefined ? {} : { signature }),
    ...kept(part, ['anthropic']),
  }
}

/** What a model wrote may be no JSON; then it is kept as it was written. */
function toInput(input: unknown): JsonObject {
  if (typeof input !== 'string') return { input: input ?? {} }
  try {
    const parsed: unknown = JSON.parse(input === '' ? '{}' : input)
    return { input: parsed }
  } catch {
    return { input: {}, rawInput: input }
  }
}

function toResult(part: JsonObject): JsonObject {
  const output = part['output'] ?? part['result']
  const type = string(output, 'type') ?? ''
  const isError = type.startsWith('error') || type === 'execution-denied' || part['isError'] === true
  return {
    type: 'tool_result',
    tool_use_id: string(part, 'toolCallId') ?? '',
    content: toResultContent(output),
    ...(isError ? { is_error: true } : {}),
  }
}

function toResultContent(output: unknown): readonly JsonObject[] {
  const value = isObject(output) && 'value' in output ? output['value'] : output
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  if (string(output, 'type') !== 'content')
    return [{ type: 'text', text: string(output, 'reason') ?? JSON.stringify(value ?? null) }]
  return list(output, 'value').flatMap((part) => {
    if (!isObject(part)) return []
    return string(part, 'type') === 'text'
      ? [{ type: 'text', text: string(part, 'text') ?? '' }]
      : [toFile(part)]
  })
}

function toFile(part: JsonObject): JsonObject {
  const mediaType = string(part, 'mediaType') ?? 'application/octet-stream'
  const type = mediaType.startsWith('image/') ? 'image' : 'document'
  const title = string(part, 'filename')
  return {
    type,
    source: toSource(part['data'] ?? part['url'], mediaType),
    ...(title === undefined ? {} : { title }),
  }
}

function toSource(data: unknown, mediaType: string): JsonObject {
  if (data instanceof Uint8Array)
    return { type: 'base64', media_type: mediaType, data: Buffer.from(data).toString('base64') }
  if (data instanceof URL) return { type: 'url', url: data.href }
  if (typeof data === 'string' && /^https?:/.test(data)) return { type: 'url', url: data }
  return { type: 'base64', media_type: mediaType, data: typeof data === 'string' ? data : '' }
}

/** What else providers say of a part, under the name of the SDK. */
function kept(part: JsonObject, carried: readonly string[]): JsonObject {
  const rest = Object.entries(metadataOf(part)).filter(([provider]) => !carried.includes(provider))
  return rest.length === 0 ? {} : { ai: { providerMetadata: Object.fromEntries(rest) } }
}

/** Of an answer it is called metadata, of a prompt options. */
function metadataOf(part: JsonObject): JsonObject {
  return object(part, 'providerMetadata') ?? object(part, 'providerOptions') ?? {}
}
