/**
 * Passing over JSON without building it, at the speed of reading. Positions go in and come out; a negative one is a
 * failure, and `failure` tells where. One walk at a time.
 */

/** Deeper than any client writes; it keeps the walk's recursion within the stack. */
export const MAX_DEPTH: number = 512

// One scan at a time: what a recursive walk would otherwise give back from every call.
let failPosition = 0
/** All groups of four bytes of strings, one over the other. */
let highBits = 0

/** The verdict on a value nested deeper than `MAX_DEPTH`. */
export const TOO_DEEP: number = -2

/** Notes where a walk failed, and gives the verdict. */
export function fail(at: number): number {
  failPosition = at
  return -1
}

export function skipSpace(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && SPACE[bytes[at]!] === 1) at++
  return at
}

/** The bytes being scanned, four at a time; none when they do not lie on a boundary of four. */
let words: Int32Array = new Int32Array()
let wordsOf: Uint8Array | undefined

const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** Begins a walk over these bytes. */
export function beginWalk(bytes: Uint8Array): void {
  highBits = 0
  if (wordsOf === bytes) return
  wordsOf = bytes
  const aligned = LITTLE_ENDIAN && bytes.byteOffset % 4 === 0
  words = aligned ? new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2) : new Int32Array()
}

/** From after the opening quote to after the closing one. Nearly all bytes of a transcript go through here. */
export function skipString(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  for (;;) {
    at = nextSpecial(bytes, at, to)
    if (at >= to) return fail(to)
    const byte = bytes[at]!
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) {
      if (at + 1 >= to) return fail(to)
      const escaped = bytes[at + 1]!
      if (ESCAPABLE[escaped] === 1) at += 2
      else if (escaped !== LETTER_U) return fail(at + 1)
      else {
        for (let digit = at + 2; digit < at + 6; digit++) {
          if (digit >= to) return fail(to)
          if (HEX_DIGIT[bytes[digit]!] !== 1) return fail(digit)
        }
        at += 6
      }
    } else if (byte < 0x20) return fail(at)
    else at++ // taken for a special one because of the byte before it
  }
}

/**
 * The position of the next quote, backslash or control character; rarely that of a byte which is none of these.
 *
 * Looks at four bytes at a time: a byte below n sets its top bit in (x - n) & ~x. The lowest bit set is right, unless
 * a byte below `from` in the same group borrowed from it.
 */
function nextSpecial(bytes: Uint8Array, from: number, to: number): number {
  const view = words
  const end = view.length
  let mask = 0x80808080 & (-1 << ((from & 3) << 3))
  let seen = 0
  let word = from >> 2
  while (word < end) {
    const x = view[word]!
    seen |= x
    const quote = x ^ 0x22222222
    const backslash = x ^ 0x5c5c5c5c
    const special =
      (((x - 0x20202020) & ~x) | ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash)) &
      mask
    if (special !== 0) {
      highBits |= seen
      return (word << 2) + ((31 - Math.clz32(special & -special)) >> 3)
    }
    mask = 0x80808080
    word++
  }
  let at = Math.max(from, word << 2)
  for (; at < to && PLAIN[bytes[at]!] === 1; at++) seen |= bytes[at]!
  highBits |= seen
  return at
}

export function skipValue(bytes: Uint8Array, from: number, to: number, depth: number): number {
  if (from >= to) return fail(to)
  switch (bytes[from]) {
    case QUOTE:
      return skipString(bytes, from + 1, to)
    case OPEN_OBJECT:
      return skipObject(bytes, from, to, depth + 1)
    case OPEN_ARRAY:
      return skipArray(bytes, from, to, depth + 1)
    case 0x74:
      return skipWord(bytes, from, to, TRUE)
    case 0x66:
      return skipWord(bytes, from, to, FALSE)
    case 0x6e:
      return skipWord(bytes, from, to, NULL)
    default:
      return skipNumber(bytes, from, to)
  }
}

function skipObject(bytes: Uint8Array, from: number, to: number, depth: number): number {
  if (depth > MAX_DEPTH) return tooDeep(from)
  let at = skipSpace(bytes, from + 1, to)
  if (at < to && bytes[at] === CLOSE_OBJECT) return at + 1
  for (;;) {
    if (at >= to || bytes[at] !== QUOTE) return fail(at)
    at = skipString(bytes, at + 1, to)
    if (at < 0) return at
    if (bytes[at] !== COLON) at = skipSpace(bytes, at, to)
    if (at >= to || bytes[at] !== COLON) return fail(at)
    at = skipValue(bytes, skipSpace(bytes, at + 1, to), to, depth)
    if (at < 0) return at
    if (bytes[at] !== COMMA) at = skipSpace(bytes, at, to)
    if (at >= to) return fail(at)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1, to)
    else return bytes[at] === CLOSE_OBJECT ? at + 1 : fail(at)
  }
}

function skipArray(bytes: Uint8Array, from: number, to: number, depth: number): number {
  if (depth > MAX_DEPTH) return tooDeep(from)
  let at = skipSpace(bytes, from + 1, to)
  if (at < to && bytes[at] === CLOSE_ARRAY) return at + 1
  for (;;) {
    at = skipValue(bytes, at, to, depth)
    if (at < 0) return at
    if (bytes[at] !== COMMA) at = skipSpace(bytes, at, to)
    if (at >= to) return fail(at)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1, to)
    else return bytes[at] === CLOSE_ARRAY ? at + 1 : fail(at)
  }
}

function tooDeep(at: number): number {
  failPosition = at
  return TOO_DEEP
}

function skipWord(bytes: Uint8Array, from: number, to: number, word: Uint8Array): number {
  for (let letter = 0; letter < word.length; letter++) {
    if (from + letter >= to) return fail(to)
    if (bytes[from + letter] !== word[letter]) return fail(from + letter)
  }
  return from + word.length
}

function skipNumber(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  if (bytes[at] === 0x2d) at++
  if (at < to && bytes[at] === 0x30) at++
  else if ((at = skipDigits(bytes, at, to)) < 0) return at
  if (at < to && bytes[at] === 0x2e && (at = skipDigits(bytes, at + 1, to)) < 0) return at
  if (at < to && (bytes[at] === 0x65 || bytes[at] === 0x45)) {
    at++
    if (at < to && (bytes[at] === 0x2b || bytes[at] === 0x2d)) at++
    return skipDigits(bytes, at, to)
  }
  return at
}

/** One digit or more. */
function skipDigits(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++
  return at === from ? fail(at) : at
}

/** The byte that showed the failure. */
export function failure(): number {
  return failPosition
}

/** Whether all bytes of strings on the walk so far were ASCII. */
export function wasAscii(): boolean {
  return (highBits & 0x80808080) === 0
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
