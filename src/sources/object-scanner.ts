import { KeyTable } from './key-table.ts'

/**
 * Walks the bytes of one JSON object without building it: says whether it is well formed, where it ends, and where
 * the values of the asked-for top-level keys stand, so that only those are parsed. Accepts exactly what `JSON.parse`
 * accepts, up to MAX_DEPTH levels; bytes in strings may be invalid UTF-8, which decoding replaces.
 */
export class ObjectScanner {
  /** Where the value of key n begins and ends in the scanned bytes; -1 when the key does not occur. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** After a failed scan: the byte that shows it. */
  failedAt = 0
  /** After a failed scan: too many levels, rather than bad syntax. */
  tooDeep = false
  readonly #keys: KeyTable

  constructor(keys: readonly string[]) {
    this.#keys = new KeyTable(keys)
    this.starts = new Int32Array(keys.length).fill(-1)
    this.ends = new Int32Array(keys.length).fill(-1)
  }

  /**
   * The position after the object that begins at `from`, or -1. What follows the object is not looked at. A failure
   * at or after `to` means that the bytes are the beginning of an object.
   */
  scan(bytes: Uint8Array, from: number, to: number): number {
    const { starts, ends } = this
    starts.fill(-1)
    ends.fill(-1)
    limit = to
    let at = skipSpace(bytes, from)
    if (at >= to || bytes[at] !== OPEN_OBJECT) return this.#fail(fail(at))
    at = skipSpace(bytes, at + 1)
    if (bytes[at] === CLOSE_OBJECT && at < to) return at + 1
    for (;;) {
      if (at >= to || bytes[at] !== QUOTE) return this.#fail(fail(at))
      const keyStart = at + 1
      at = skipString(bytes, keyStart)
      if (at < 0) return this.#fail(at)
      const key = this.#keys.find(bytes, keyStart, at - 1)
      at = skipSpace(bytes, at)
      if (at >= to || bytes[at] !== COLON) return this.#fail(fail(at))
      const start = skipSpace(bytes, at + 1)
      at = skipValue(bytes, start, 1)
      if (at < 0) return this.#fail(at)
      if (key >= 0) {
        starts[key] = start
        ends[key] = at
      }
      at = skipSpace(bytes, at)
      if (at >= to) return this.#fail(fail(at))
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
      else if (bytes[at] === CLOSE_OBJECT) return at + 1
      else return this.#fail(fail(at))
    }
  }

  #fail(verdict: number): number {
    this.failedAt = failPosition
    this.tooDeep = verdict === TOO_DEEP
    return -1
  }
}

/** Deeper than any client writes; it keeps the walk's recursion within the stack. */
export const MAX_DEPTH = 512

// One scan at a time: what a recursive walk would otherwise carry through every call.
let failPosition = 0
let limit = 0

const TOO_DEEP = -2

function fail(at: number): number {
  failPosition = at
  return -1
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < limit && SPACE[bytes[at]!] === 1) at++
  return at
}

/** From after the opening quote to after the closing one. */
function skipString(bytes: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    // No look at the limit in this loop, where nearly all bytes go: a line ends in a byte that is not plain.
    while (PLAIN[bytes[at]!] === 1) at++
    if (at >= limit) return fail(limit)
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    if (byte !== BACKSLASH) return fail(at)
    const escaped = bytes[at + 1]
    if (at + 1 >= limit) return fail(limit)
    if (escaped === LETTER_U) {
      for (let digit = at + 2; digit < at + 6; digit++) {
        if (digit >= limit) return fail(limit)
        if (HEX_DIGIT[bytes[digit]!] !== 1) return fail(digit)
      }
      at += 6
    } else if (ESCAPABLE[escaped!] === 1) at += 2
    else return fail(at + 1)
  }
}

function skipValue(bytes: Uint8Array, from: number, depth: number): number {
  if (from >= limit) return fail(limit)
  switch (bytes[from]) {
    case QUOTE:
      return skipString(bytes, from + 1)
    case OPEN_OBJECT:
      return skipObject(bytes, from, depth + 1)
    case OPEN_ARRAY:
      return skipArray(bytes, from, depth + 1)
    case 0x74:
      return skipWord(bytes, from, TRUE)
    case 0x66:
      return skipWord(bytes, from, FALSE)
    case 0x6e:
      return skipWord(bytes, from, NULL)
    default:
      return skipNumber(bytes, from)
  }
}

function skipObject(bytes: Uint8Array, from: number, depth: number): number {
  if (depth > MAX_DEPTH) return tooDeep(from)
  let at = skipSpace(bytes, from + 1)
  if (at < limit && bytes[at] === CLOSE_OBJECT) return at + 1
  for (;;) {
    if (at >= limit || bytes[at] !== QUOTE) return fail(at)
    at = skipString(bytes, at + 1)
    if (at < 0) return at
    at = skipSpace(bytes, at)
    if (at >= limit || bytes[at] !== COLON) return fail(at)
    at = skipValue(bytes, skipSpace(bytes, at + 1), depth)
    if (at < 0) return at
    at = skipSpace(bytes, at)
    if (at >= limit) return fail(at)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
    else return bytes[at] === CLOSE_OBJECT ? at + 1 : fail(at)
  }
}

function skipArray(bytes: Uint8Array, from: number, depth: number): number {
  if (depth > MAX_DEPTH) return tooDeep(from)
  let at = skipSpace(bytes, from + 1)
  if (at < limit && bytes[at] === CLOSE_ARRAY) return at + 1
  for (;;) {
    at = skipValue(bytes, at, depth)
    if (at < 0) return at
    at = skipSpace(bytes, at)
    if (at >= limit) return fail(at)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
    else return bytes[at] === CLOSE_ARRAY ? at + 1 : fail(at)
  }
}

function tooDeep(at: number): number {
  failPosition = at
  return TOO_DEEP
}

function skipWord(bytes: Uint8Array, from: number, word: Uint8Array): number {
  for (let letter = 0; letter < word.length; letter++) {
    if (from + letter >= limit) return fail(limit)
    if (bytes[from + letter] !== word[letter]) return fail(from + letter)
  }
  return from + word.length
}

function skipNumber(bytes: Uint8Array, from: number): number {
  let at = from
  if (bytes[at] === 0x2d) at++
  if (at < limit && bytes[at] === 0x30) at++
  else if ((at = skipDigits(bytes, at)) < 0) return at
  if (at < limit && bytes[at] === 0x2e && (at = skipDigits(bytes, at + 1)) < 0) return at
  if (at < limit && (bytes[at] === 0x65 || bytes[at] === 0x45)) {
    at++
    if (at < limit && (bytes[at] === 0x2b || bytes[at] === 0x2d)) at++
    return skipDigits(bytes, at)
  }
  return at
}

/** One digit or more. */
function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < limit && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++
  return at === from ? fail(at) : at
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const LETTER_U = 0x75
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const TRUE = new TextEncoder().encode('true')
const FALSE = new TextEncoder().encode('false')
const NULL = new TextEncoder().encode('null')

const PLAIN = new Uint8Array(256).fill(1, 0x20)
PLAIN[QUOTE] = 0
PLAIN[BACKSLASH] = 0
const SPACE = tableOf(' \t\r\n')
const ESCAPABLE = tableOf('"\\/bfnrt')
const HEX_DIGIT = tableOf('0123456789abcdefABCDEF')

function tableOf(letters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const letter of letters) table[letter.charCodeAt(0)] = 1
  return table
}
