import { list, number, object, string, type JsonObject } from '#base'

/** A part of a prompt as a block. One that nobody knows is kept as it is. */
export function toBlock(part: JsonObject): JsonObject {
  const text = string(part, 'text')
  if (string(part, 'type') === 'text' && text !== undefined) return { type: 'text', text }
  return string(part, 'type') === 'file' ? toFile(part) : { type: 'opencode', opencode: part }
}

function toFile(part: JsonObject): JsonObject {
  const url = string(part, 'url') ?? ''
  const mime = string(part, 'mime') ?? 'application/octet-stream'
  const [, mediaType = mime, data] = /^data:([^;,]*)(?:;[^,]*)?;base64,(.*)$/su.exec(url) ?? []
  const type = mediaType.startsWith('image/') ? 'image' : 'document'
  const title = string(part, 'filename')
  const named = title === undefined || type === 'image' ? {} : { title }
  if (data !== undefined) return { type, source: { type: 'base64', media_type: mediaType, data }, ...named }
  return { type, source: { type: 'url', url }, ...named, opencode: part }
}

/** The result of a call; nothing while it runs. */
export function toResult(part: JsonObject, id: string): JsonObject | undefined {
  const state = object(part, 'state')
  const status = string(state, 'status')
  if (status !== 'completed' && status !== 'error') return undefined
  const isError = status === 'error'
  const text = (isError ? string(state, 'error') : string(state, 'output')) ?? ''
  const files = list(state, 'attachments').flatMap((file) =>
    string(file, 'type') === 'file' ? [toFile({ ...toFields(file) })] : [],
  )
  const content = [...(text === '' ? [] : [{ type: 'text', text }]), ...files]
  return { type: 'tool_result', tool_use_id: id, content, is_error: isError }
}

function toFields(value: unknown): JsonObject {
  return object({ value }, 'value') ?? {}
}

/** What an answer cost. opencode counts neither what was cached as input nor thoughts as output. */
export function usageOf(message: JsonObject): JsonObject | undefined {
  const tokens = object(message, 'tokens')
  if (tokens === undefined) return undefined
  const cache = object(tokens, 'cache')
  const usage = {
    input_tokens: number(tokens, 'input') ?? 0,
    output_tokens: (number(tokens, 'output') ?? 0) + (number(tokens, 'reasoning') ?? 0),
    cache_read_input_tokens: number(cache, 'read') ?? 0,
    cache_creation_input_tokens: number(cache, 'write') ?? 0,
  }
  return Object.values(usage).some((count) => count > 0) ? usage : undefined
}

/** Whose format the model speaks, by what opencode calls its provider. */
export function providerOf(message: JsonObject): string {
  const provider =
    string(message, 'providerID') ?? string(object(message, 'model'), 'providerID') ?? 'unknown'
  return provider.startsWith('google') ? 'gemini' : provider
}

/** A time as lines have it. */
export function toTime(ms: number | undefined): string | undefined {
  return ms === undefined || Math.abs(ms) > 8.64e15 ? undefined : new Date(ms).toISOString()
}
