import { FOLDS, WORD_RANGES } from './tokens-table.ts'

/**
 * The words of a text exactly as SQLite's `unicode61 remove_diacritics 2` finds them: runs of letters and digits,
 * lower-case, without accents.
 */
export function toTokens(text: string): readonly string[] {
  const tokens: string[] = []
  const reader = createTokenReader(text)
  while (reader.next()) tokens.push(reader.token())
  return tokens
}

/** Goes through the words of a text one after another, and makes strings only of those that are asked for. */
export interface TokenReader {
  /** Goes to the next word and says whether there is one. */
  next(): boolean
  readonly start: number
  readonly end: number
  /** What the current word's first character is searched as. */
  first(): number
  /** What the current word is searched as. */
  token(): string
}

/** Reads the words of `text` from `from` on, until `to`. */
export function createTokenReader(text: string, from: number = 0, to: number = text.length): TokenReader {
  let at = from
  let start = from
  let end = from
  let plain = true
  return {
    get start() {
      return start
    },
    get end() {
      return end
    },
    next() {
      while (at < to) {
        const code = text.charCodeAt(at)
        if (code < 128) {
          if (ASCII[code] !== 0) break
          at++
          continue
        }
        const point = pointAt(text, at, to)
        if (kindOf(point) === WORD) break
        at += point > 0xffff ? 2 : 1
      }
      if (at >= to) return false
      start = at
      plain = true
      while (at < to) {
        const code = text.charCodeAt(at)
        if (code < 128) {
          if (ASCII[code] === 0) break
          at++
          continue
        }
        const point = pointAt(text, at, to)
        if (kindOf(point) === SEPARATOR) break
        plain = false
        at += point > 0xffff ? 2 : 1
      }
      end = at
      return true
    },
    first: () => foldOf(pointAt(text, start, to)),
    token: () => (plain ? text.slice(start, end).toLowerCase() : fold(text, start, end)),
  }
}

/**
 * The first bytes, in UTF-8, of characters beyond ASCII that can stand where one of these letters is searched for:
 * `é` for `e`, and marks that count for nothing.
 */
export function leadsOf(letters: string): readonly number[] {
  const { kinds, folds } = getTables()
  const leads = new Set<number>()
  for (const [point, folded] of folds) {
    if (folded < 128 && letters.includes(String.fromCodePoint(folded))) leads.add(leadOf(point))
  }
  for (let point = 0x80; point < kinds.length; point++) if (kinds[point] === MARK) leads.add(leadOf(point))
  return [...leads].toSorted((a, b) => a - b)
}

function leadOf(point: number): number {
  if (point < 0x800) return 0xc0 | (point >> 6)
  return point < 0x10000 ? 0xe0 | (point >> 12) : 0xf0 | (point >> 18)
}

const SEPARATOR = 0
const WORD = 1
const MARK = 2

const ASCII = new Uint8Array(128)
for (const [from, to] of [
  ['0', '9'],
  ['A', 'Z'],
  ['a', 'z'],
] as const) {
  ASCII.fill(1, from.charCodeAt(0), to.charCodeAt(0) + 1)
}

interface Tables {
  /** The kind of every character of the basic plane. */
  readonly kinds: Uint8Array
  /** Ranges of words beyond it: first and last, one after another. */
  readonly beyond: readonly number[]
  readonly folds: ReadonlyMap<number, number>
}

let tables: Tables | undefined

/** Made when the first character beyond ASCII is met. */
function getTables(): Tables {
  tables ??= readTables()
  return tables
}

function readTables(): Tables {
  const kinds = new Uint8Array(0x10000)
  const beyond: number[] = []
  let at = 0x80
  for (const item of WORD_RANGES.trim().split(/\s/)) {
    const isMark = item.startsWith('~')
    const [gap = '', more = '0'] = (isMark ? item.slice(1) : item).split('.')
    const from = at + Number.parseInt(gap, 36)
    at = from + Number.parseInt(more, 36)
    if (from > 0xffff) beyond.push(from, at)
    else kinds.fill(isMark ? MARK : WORD, from, at + 1)
  }
  const folds = new Map<number, number>()
  at = 0x80
  for (const item of FOLDS.trim().split(/\s/)) {
    const [gap = 0, difference = 0, count = 1, step = 1] = item
      .split(',')
      .map((part) => Number.parseInt(part, 36))
    at += gap
    for (let n = 0; n < count; n++) {
      if (n > 0) at += step
      folds.set(at, at + difference)
    }
  }
  return { kinds, beyond, folds }
}

function kindOf(point: number): number {
  const { kinds, beyond } = getTables()
  if (point < 0x10000) return kinds[point] ?? SEPARATOR
  for (let n = 0; n < beyond.length; n += 2) {
    if (point <= (beyond[n + 1] ?? 0)) return point >= (beyond[n] ?? 0) ? WORD : SEPARATOR
  }
  return SEPARATOR
}

function foldOf(point: number): number {
  if (point < 128) return point >= 65 && point <= 90 ? point + 32 : point
  return getTables().folds.get(point) ?? point
}

function fold(text: string, start: number, end: number): string {
  let folded = ''
  for (let at = start; at < end;) {
    const point = pointAt(text, at, end)
    at += point > 0xffff ? 2 : 1
    if (point < 128 || kindOf(point) === WORD) folded += String.fromCodePoint(foldOf(point))
  }
  return folded
}

/** The code point at a place. Half a character stands for itself, and is no part of a word. */
function pointAt(text: string, at: number, to: number): number {
  const code = text.charCodeAt(at)
  if (code < 0xd800 || code > 0xdbff || at + 1 >= to) return code
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff ? (code - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000 : code
}
