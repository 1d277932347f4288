import { isObject, list, parseJson, string, type JsonObject } from '#base'

/** What a file of Gemini CLI says: an operation on the conversation, or a line that is none. */
export type Operation =
  | { readonly kind: 'message'; readonly message: GeminiMessage; readonly original: JsonObject }
  | { readonly kind: 'rewind'; readonly to: string; readonly original: JsonObject }
  /** `replaces`: the list of messages is the whole conversation from here on. */
  | {
      readonly kind: 'facts'
      readonly facts: JsonObject
      readonly messages: readonly GeminiMessage[]
      readonly replaces: boolean
      readonly original: JsonObject
    }
  | { readonly kind: 'unknown'; readonly original: JsonObject }
  | { readonly kind: 'damage'; readonly text: string }

export interface GeminiMessage {
  readonly id: string
  readonly fields: JsonObject
}

/** Reads a line the way Gemini CLI does, in the same order of questions. Never throws. */
export function readOperation(line: string): Operation | undefined {
  if (line.trim() === '') return undefined
  const original = parseJson(line)
  return isObject(original) ? toOperation(original) : { kind: 'damage', text: line }
}

/** The operations of a session that was written as one object, as older versions did. */
export function readWholeSession(text: string): readonly Operation[] {
  const original = parseJson(text)
  if (!isObject(original)) return [{ kind: 'damage', text: text.replaceAll(/[\r\n]+/gu, ' ') }]
  const { messages: _told, ...facts } = original
  const messages = readMessages(original)
  return [
    { kind: 'facts', facts, messages: [], replaces: false, original: facts },
    ...messages.map((message): Operation => ({ kind: 'message', message, original: message.fields })),
  ]
}

function toOperation(original: JsonObject): Operation {
  const to = string(original, '$rewindTo')
  if (to !== undefined) return { kind: 'rewind', to, original }
  const id = string(original, 'id')
  if (id !== undefined) return { kind: 'message', message: { id, fields: original }, original }
  const facts = original['$set']
  if (isObject(facts)) {
    const replaces = Array.isArray(facts['messages'])
    return { kind: 'facts', facts, messages: readMessages(facts), replaces, original }
  }
  if (string(original, 'sessionId') === undefined || string(original, 'projectHash') === undefined)
    return { kind: 'unknown', original }
  return { kind: 'facts', facts: original, messages: readMessages(original), replaces: false, original }
}

function readMessages(holder: JsonObject): readonly GeminiMessage[] {
  return list(holder, 'messages').flatMap((fields) => {
    const id = string(fields, 'id')
    return id === undefined || !isObject(fields) ? [] : [{ id, fields }]
  })
}
