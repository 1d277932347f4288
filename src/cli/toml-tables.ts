import { parseJson } from '#base'

/** A table of a TOML text, where it stands. The keys before the first header are a table without a name. */
export interface TomlTable {
  readonly path: readonly string[]
  /** Where the line of its header begins, and where its last key ends: behind the line break. */
  readonly start: number
  readonly end: number
  readonly keys: readonly (readonly string[])[]
}

/** Every table of a text, in order. `undefined` when it cannot be read. Never throws. */
export function readTables(text: string): readonly TomlTable[] | undefined {
  const tables: { path: readonly string[]; start: number; end: number; keys: (readonly string[])[] }[] = [
    { path: [], start: 0, end: 0, keys: [] },
  ]
  let at = text.startsWith('\ufeff') ? 1 : 0
  while (at < text.length) {
    const line = at
    at = skipBlank(text, at)
    if (at >= text.length) break
    if (text[at] === '\n' || text[at] === '\r' || text[at] === '#') {
      at = lineEnd(text, at)
      continue
    }
    if (text[at] === '[') {
      const isList = text[at + 1] === '['
      const read = readPath(text, at + (isList ? 2 : 1))
      if (read === undefined || !text.startsWith(isList ? ']]' : ']', read.end)) return undefined
      at = lineEnd(text, read.end)
      tables.push({ path: read.path, start: line, end: at, keys: [] })
      continue
    }
    const read = readPath(text, at)
    if (read === undefined || text[read.end] !== '=') return undefined
    const end = skipValue(text, read.end + 1)
    if (end === undefined) return undefined
    at = lineEnd(text, end)
    const table = tables.at(-1)
    table?.keys.push(read.path)
    if (table !== undefined) table.end = at
  }
  return tables
}

function skipBlank(text: string, start: number): number {
  let at = start
  while (text[at] === ' ' || text[at] === '\t') at++
  return at
}

function lineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', at)
  return found < 0 ? text.length : found + 1
}

/** A dotted key, and where what follows it stands. */
function readPath(
  text: string,
  start: number,
): { readonly path: readonly string[]; readonly end: number } | undefined {
  const path: string[] = []
  let at = start
  for (;;) {
    const [all, basic, literal, bare] =
      /^[ \t]*(?:("(?:[^"\\\n]|\\.)*")|'([^'\n]*)'|([\w-]+))[ \t]*/.exec(text.slice(at, at + 2000)) ?? []
    if (all === undefined) return undefined
    const decoded = basic === undefined ? undefined : parseJson(basic)
    path.push(typeof decoded === 'string' ? decoded : (basic ?? literal ?? bare ?? ''))
    at += all.length
    if (text[at] !== '.') return { path, end: at }
    at++
  }
}

/** Where a value ends: at the end of its line, unless strings or brackets reach further. */
function skipValue(text: string, start: number): number | undefined {
  let depth = 0
  let at = start
  while (at < text.length) {
    const char = text[at] ?? ''
    if (char === '\n' && depth === 0) return at
    if (char === '#') {
      at = depth === 0 ? lineEnd(text, at) - 1 : lineEnd(text, at)
      if (depth === 0) return Math.max(at, start)
      continue
    }
    if (char === '"' || char === "'") {
      const end = skipString(text, at, char)
      if (end === undefined) return undefined
      at = end
      continue
    }
    if (char === '[' || char === '{') depth++
    if (char === ']' || char === '}') depth--
    at++
  }
  return depth === 0 ? text.length : undefined
}

function skipString(text: string, start: number, quote: string): number | undefined {
  const isLong = text.startsWith(quote.repeat(3), start)
  const close = isLong ? quote.repeat(3) : quote
  for (let at = start + close.length; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++
    else if (text.startsWith(close, at)) {
      // Up to two more quotes belong to the text.
      const more = isLong ? [1, 2].filter((count) => text.startsWith(quote.repeat(count), at + 3)).length : 0
      return at + close.length + more
    } else if (!isLong && text[at] === '\n') return undefined
  }
  return undefined
}
