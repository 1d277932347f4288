const SHINGLE = 3
/** So much of a long text is looked for: enough to notice that a part of it is missing. */
const MOST_LINES = 400
const MOST_PLACES = 400

/** The words of a text, without marks and spaces, so that escapes and wrapping make no difference. */
export function toWords(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Knows what was said in a lot of text, and whether another text stands in it. */
export function createHaystack() {
  const shingles = new Set()
  return {
    add(text) {
      const words = toWords(text)
      for (let at = 0; at < words.length; at++) {
        shingles.add(hash(words, at, 1))
        if (at + SHINGLE <= words.length) shingles.add(hash(words, at, SHINGLE))
      }
    },
    /** Whether all of the text stands in it, line by line: a diff or a numbered listing puts others in between. */
    has(text) {
      const lines = text.split('\n')
      const step = Math.max(1, lines.length / MOST_LINES)
      for (let at = 0; at < lines.length; at += step) {
        const line = lines[Math.floor(at)]
        if (!hasLine(shingles, line) && !hasLine(shingles, withoutTags(line))) return false
      }
      return true
    },
  }
}

/** What a client puts around words for the model is not shown with them. */
function withoutTags(line) {
  return line.replaceAll(/<\/?[a-z][\w-]*>/g, ' ')
}

function hasLine(shingles, line) {
  const words = toWords(line)
  if (words.length < SHINGLE) return words.every((_, at) => shingles.has(hash(words, at, 1)))
  const places = words.length - SHINGLE + 1
  const step = Math.max(1, places / MOST_PLACES)
  for (let at = 0; at < places; at += step)
    if (!shingles.has(hash(words, Math.floor(at), SHINGLE))) return false
  return shingles.has(hash(words, places - 1, SHINGLE))
}

/** FNV-1a over some words. Two texts share a value once in four thousand million. */
function hash(words, from, count) {
  let value = 0x811c9dc5
  for (let at = from; at < from + count; at++) {
    const word = words[at]
    for (let index = 0; index < word.length; index++)
      value = Math.imul(value ^ word.charCodeAt(index), 0x01000193)
    value = Math.imul(value ^ 0x20, 0x01000193)
  }
  return value >>> 0
}

/** What Codex keeps as JSON within a string. */
const JSON_IN_STRING = /\.arguments$/

function parseObject(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Every string in a value, with its path: list places as `[]`, and the type of what is typed. */
export function* leavesOf(value, path = '') {
  if (typeof value === 'string') {
    const inner = JSON_IN_STRING.test(path) ? parseObject(value) : undefined
    if (inner === undefined) yield { path, text: value }
    else yield* leavesOf(inner, path)
  } else if (Array.isArray(value)) for (const item of value) yield* leavesOf(item, `${path}[]`)
  else if (typeof value === 'object' && value !== null) {
    const type =
      typeof value.type === 'string' && path !== '' && value.type.length < 40 ? `(${value.type})` : ''
    for (const [key, inner] of Object.entries(value)) yield* leavesOf(inner, `${path}${type}.${toKey(key)}`)
  }
}

/** Keys that are data (paths, ids) are one key. */
function toKey(key) {
  return /^[A-Za-z_][\w-]{0,40}$/.test(key) && !/\d{4,}|[0-9a-f]{8}/.test(key) ? key : '*'
}

/** Every object that counts tokens, with its path. */
export function* usagesOf(value, path = '') {
  if (Array.isArray(value)) for (const item of value) yield* usagesOf(item, `${path}[]`)
  else if (typeof value === 'object' && value !== null) {
    const numbers = Object.entries(value).filter(
      ([key, inner]) => TOKENS.test(key) && typeof inner === 'number',
    )
    if (numbers.length >= 2) yield { path, tokens: Object.fromEntries(numbers) }
    for (const [key, inner] of Object.entries(value)) yield* usagesOf(inner, `${path}.${toKey(key)}`)
  }
}

const TOKENS =
  /^(?:input|output|total|cached|reasoning|thoughts|prompt|candidates|tool)$|_tokens$|[a-z]Tokens?$|TokenCount$/
