import { isObject, string, type JsonObject } from '#base'

/** What stands behind the keyword of a directive. */
export type ReadObject =
  | { readonly state: 'read'; readonly end: number; readonly content: string; readonly payload: JsonObject }
  /** No object begins here. */
  | { readonly state: 'none' }
  | { readonly state: 'broken'; readonly reason: string }
  /** What follows decides. */
  | { readonly state: 'unfinished' }

/** Longer ones are no directive: nobody reads them, and a stream would wait for their end. */
const LONGEST_DIRECTIVE = 16_384

const GAP = /^[ \t]{0,80}(?:\r?\n[ \t]{0,80})?/

/** Reads the JSON object at a place, behind spaces and at most one line break. */
export function readObject(text: string, at: number, isLast: boolean): ReadObject {
  const gap = GAP.exec(text.slice(at, at + 164))?.[0].length ?? 0
  const start = at + gap
  const isRoom = text.length - at >= 164
  const rest = text.slice(start, start + 2)
  if ((rest === '' || rest === '\r') && !isLast && !isRoom) return { state: 'unfinished' }
  if (text.charAt(start) !== '{') return { state: 'none' }
  const end = endOfObject(text, start)
  if (end === undefined) {
    if (text.length - start >= LONGEST_DIRECTIVE) {
      return { state: 'broken', reason: `The JSON does not end within ${LONGEST_DIRECTIVE} characters.` }
    }
    return isLast
      ? { state: 'broken', reason: 'The JSON has no end: a brace or a quote is missing.' }
      : { state: 'unfinished' }
  }
  return toObject(text.slice(start, end), end)
}

/** Behind the brace that closes the one at `start`, strings read as strings. */
function endOfObject(text: string, start: number): number | undefined {
  const limit = Math.min(text.length, start + LONGEST_DIRECTIVE)
  let depth = 0
  let inString = false
  for (let at = start; at < limit; at += 1) {
    const char = text.charAt(at)
    if (inString) {
      if (char === '\\') at += 1
      else if (char === '"') inString = false
      continue
    }
    if (char === '"') inString = true
    else if (char === '{') depth += 1
    else if (char === '}') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return undefined
}

function toObject(json: string, end: number): ReadObject {
  let payload: unknown
  try {
    payload = JSON.parse(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read'
    return { state: 'broken', reason: `The JSON is broken: ${reason}.` }
  }
  if (!isObject(payload)) return { state: 'broken', reason: 'The JSON is no object.' }
  const content = string(payload, 'content')
  if (content === undefined || content.trim() === '') {
    return { state: 'broken', reason: 'The JSON has no "content" with something in it.' }
  }
  return { state: 'read', end, content, payload }
}
