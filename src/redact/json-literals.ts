import { parseJson } from '#base'

/** A string or a number in a text of JSON: its bytes, those of a string without its quotes. */
export interface Literal {
  readonly from: number
  readonly to: number
  readonly sort: 'key' | 'string' | 'number'
  /** The name that it stands under. Empty in a list, and where it is not short. */
  readonly key: string
  /** Every byte of it is the character that it stands for. */
  readonly isPlain: boolean
}

/** The strings and numbers of a text of JSON, in order; nothing when it is none. */
export function findLiterals(bytes: Buffer): readonly Literal[] | undefined {
  if (parseJson(bytes.toString('utf8')) === undefined) return undefined
  const found: Literal[] = []
  let key = ''
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) {
      const { to, isPlain } = endOfString(bytes, at + 1)
      const isKey = bytes[skipBlanks(bytes, to + 1)] === COLON
      if (isKey) key = to - at <= LONGEST_KEY ? bytes.toString('latin1', at + 1, to) : ''
      found.push({ from: at + 1, to, sort: isKey ? 'key' : 'string', key: isKey ? '' : key, isPlain })
      if (!isKey) key = ''
      at = to + 1
    } else if (byte === MINUS || isDigit(byte)) {
      let to = at + 1
      while (to < bytes.length && IN_NUMBER.has(bytes[to] ?? 0)) to++
      found.push({ from: at, to, sort: 'number', key, isPlain: true })
      key = ''
      at = to
    } else {
      if (byte === BRACE || byte === BRACKET) key = ''
      at++
    }
  }
  return found
}

/** Where each UTF-16 unit of a string begins, and behind the last of them where it ends. */
export function unitsOf(bytes: Buffer, { from, to }: Literal): readonly number[] {
  const starts: number[] = []
  for (let at = from; at < to;) {
    const byte = bytes[at] ?? 0
    starts.push(at)
    if (byte === BACKSLASH) at += bytes[at + 1] === SMALL_U ? 6 : 2
    else if (byte < 0x80) at += 1
    else if (byte < 0xe0) at += 2
    else if (byte < 0xf0) at += 3
    else {
      // Two units that cannot be parted.
      starts.push(at)
      at += 4
    }
  }
  starts.push(to)
  return starts
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const MINUS = 0x2d
const BRACE = 0x7b
const BRACKET = 0x5b
const SMALL_U = 0x75
const LONGEST_KEY = 128
const IN_NUMBER: ReadonlySet<number> = new Set(Buffer.from('0123456789.eE+-'))

function endOfString(bytes: Buffer, from: number): { readonly to: number; readonly isPlain: boolean } {
  let isPlain = true
  let at = from
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) {
    const byte = bytes[at] ?? 0
    if (byte === BACKSLASH) at++
    if (byte === BACKSLASH || byte >= 0x80) isPlain = false
  }
  return { to: at, isPlain }
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at++
  return at
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
