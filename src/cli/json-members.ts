import { parseJson } from '#base'

/** A member of an object, where it stands in a text. */
export interface Member {
  readonly key: string
  /** Where its key begins, its value begins, and its value ends. */
  readonly start: number
  readonly value: number
  readonly end: number
  /** Behind the comma that follows it, if one does. */
  readonly comma?: number
}

/** An object, where it stands in a text. */
export interface ObjectPlace {
  /** Behind its opening brace. */
  readonly inside: number
  /** At its closing brace. */
  readonly close: number
  readonly members: readonly Member[]
}

const DEEPEST = 200

/** The object at a place of a JSON text, which may have comments and commas too many. `undefined` when it is none. */
export function findObject(text: string, at: number): ObjectPlace | undefined {
  const start = skipSpace(text, at)
  return text[start] === '{' ? readObject(text, start, 0) : undefined
}

/** The object that a whole text is, and nothing else. */
export function findWhole(text: string): ObjectPlace | undefined {
  const found = findObject(text, text.startsWith('\ufeff') ? 1 : 0)
  return found !== undefined && skipSpace(text, found.close + 1) === text.length ? found : undefined
}

function readObject(text: string, start: number, depth: number): ObjectPlace | undefined {
  if (depth > DEEPEST) return undefined
  const members: Member[] = []
  let at = skipSpace(text, start + 1)
  while (text[at] !== '}') {
    const keyEnd = text[at] === '"' ? skipString(text, at) : undefined
    if (keyEnd === undefined) return undefined
    const key = parseJson(text.slice(at, keyEnd))
    const colon = skipSpace(text, keyEnd)
    if (typeof key !== 'string' || text[colon] !== ':') return undefined
    const value = skipSpace(text, colon + 1)
    const end = skipValue(text, value, depth + 1)
    if (end === undefined) return undefined
    const after = skipSpace(text, end)
    const hasComma = text[after] === ','
    members.push({ key, start: at, value, end, ...(hasComma ? { comma: after + 1 } : {}) })
    at = hasComma ? skipSpace(text, after + 1) : after
    if (!hasComma && text[at] !== '}') return undefined
  }
  return { inside: start + 1, close: at, members }
}

/** Where the value ends that begins here. */
function skipValue(text: string, at: number, depth: number): number | undefined {
  switch (text[at]) {
    case '"':
      return skipString(text, at)
    case '{': {
      const found = readObject(text, at, depth)
      return found && found.close + 1
    }
    case '[':
      return skipList(text, at, depth)
    default: {
      const [word] = /^[\w.+-]+/.exec(text.slice(at, at + 400)) ?? []
      return word === undefined ? undefined : at + word.length
    }
  }
}

function skipList(text: string, start: number, depth: number): number | undefined {
  if (depth > DEEPEST) return undefined
  let at = skipSpace(text, start + 1)
  while (text[at] !== ']') {
    const end = skipValue(text, at, depth + 1)
    if (end === undefined) return undefined
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
    else if (text[at] !== ']') return undefined
  }
  return at + 1
}

function skipString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '"') return at + 1
    else if (char === '\n') return undefined
  }
  return undefined
}

/** Spaces and comments. */
function skipSpace(text: string, start: number): number {
  let at = start
  for (;;) {
    if (/\s/.test(text[at] ?? '')) at++
    else if (text.startsWith('//', at)) at = orEnd(text, text.indexOf('\n', at))
    else if (text.startsWith('/*', at)) at = orEnd(text, text.indexOf('*/', at + 2) + 2, 2)
    else return at
  }
}

function orEnd(text: string, at: number, least = 0): number {
  return at < least ? text.length : at
}
