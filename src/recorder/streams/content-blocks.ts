import { isObject, list, parseJson, string, type JsonObject } from '#base'

/** An object without these fields. */
export function without(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

/** An object without the fields that say nothing. */
export function withoutEmpty(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined))
}

/** `{ [name]: rest }` when there is anything to be kept under the provider's name. */
export function beside(name: 'openai' | 'gemini', rest: JsonObject): JsonObject {
  const kept = withoutEmpty(rest)
  return Object.keys(kept).length > 0 ? { [name]: kept } : {}
}

/** What a call is given, from the text that a model wrote, and that text where it cannot be made from it again. */
export function readArguments(text: string): { readonly input: unknown; readonly raw?: string } {
  const parsed = parseJson(text)
  // A call takes an object; whatever else a model wrote is kept as it wrote it.
  if (!isObject(parsed)) return { input: {}, raw: text }
  return toText(parsed) === text ? { input: parsed } : { input: parsed, raw: text }
}

/** A value as JSON. */
export function toText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // Nested so deeply that it can be read but not written.
    return ''
  }
}

/** The text of blocks, one after the other; a text is its own. */
export function textOf(content: unknown, separator = ''): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((block: unknown) => string(block, 'text') ?? []).join(separator)
}

/** The source of an image or a document: its bytes where the address holds them, otherwise the address. */
export function toSource(url: string): JsonObject {
  const [, type, data] = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/su.exec(url) ?? []
  if (type !== undefined && data !== undefined) return { type: 'base64', media_type: type, data }
  return { type: 'url', url }
}

/** Blocks as they are, or the one that a text is. Whatever is neither is none. */
export function toBlocks(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.flatMap((block: unknown) => {
    if (typeof block === 'string') return [{ type: 'text', text: block }]
    return isObject(block) ? [block] : []
  })
}

/** Whether a block is a call of a tool that the client has. */
export function isCall(block: unknown): boolean {
  return string(block, 'type') === 'tool_use'
}

/** The objects in a list of foreign data. */
export function objectsIn(value: unknown, key: string): readonly JsonObject[] {
  return list(value, key).filter(isObject)
}
