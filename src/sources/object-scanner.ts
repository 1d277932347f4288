import { parseJson } from '#base'
import {
  beginWalk,
  fail,
  failure,
  MAX_DEPTH,
  skipSpace,
  skipString,
  skipValue,
  TOO_DEEP,
  wasAscii,
} from './json-walk.ts'
import { KeyTable } from './key-table.ts'

/**
 * Walks the bytes of one JSON object without building it: says whether it is well formed, where it ends, and where
 * the values of the asked-for keys stand, so that only those are parsed. Accepts exactly what `JSON.parse` accepts,
 * up to MAX_DEPTH levels; bytes in strings may be invalid UTF-8, which decoding replaces.
 */
export class ObjectScanner {
  /** Where the value of key n begins and ends in the scanned bytes; -1 when the key does not occur. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** After a failed scan: the byte that shows it. */
  failedAt = 0
  /** After a failed scan: too many levels, rather than bad syntax. */
  tooDeep = false
  /** After a scan: all bytes walked over are ASCII, and can be decoded by copying them. Not those of `parsed`. */
  isAscii = false
  /** The same for the keys of the object under one of the keys. */
  readonly inner: ObjectScanner | undefined
  /** The parsed value of the key that is parsed while scanning, if the last scan came by it and could. */
  parsed: { readonly value: unknown } | undefined
  readonly #keys: KeyTable
  readonly #innerKey: number
  readonly #parseKey: number
  /** The bytes that followed the parsed key's value on an earlier line. */
  #follower: Buffer | undefined

  constructor(keys: readonly string[], inner?: InnerKeys, parse?: string) {
    this.#keys = new KeyTable(keys)
    this.starts = new Int32Array(keys.length).fill(-1)
    this.ends = new Int32Array(keys.length).fill(-1)
    this.#innerKey = inner === undefined ? -1 : keys.indexOf(inner.under)
    this.inner = inner === undefined ? undefined : new ObjectScanner(inner.keys, inner.inner, inner.parse)
    this.#parseKey = parse === undefined ? -1 : keys.indexOf(parse)
  }

  /**
   * The position after the object that begins at `from`, or -1. What follows the object is not looked at. A failure
   * at or after `to` means that the bytes are the beginning of an object.
   */
  scan(bytes: Buffer, from: number, to: number): number {
    beginWalk(bytes)
    for (let { inner } = this; inner !== undefined; { inner } = inner) inner.#forget()
    const start = skipSpace(bytes, from, to)
    const end =
      start < to && bytes[start] === OPEN_OBJECT ? this.#scanObject(bytes, start, to, 1) : fail(start)
    if (end < 0) {
      this.failedAt = failure()
      this.tooDeep = end === TOO_DEEP
      return -1
    }
    this.isAscii = wasAscii()
    for (let { inner } = this; inner !== undefined; { inner } = inner) inner.isAscii = this.isAscii
    return end
  }

  #forget(): void {
    this.starts.fill(-1)
    this.ends.fill(-1)
    this.parsed = undefined
  }

  /** As `skipObject`, noting where values stand. */
  #scanObject(bytes: Buffer, from: number, to: number, depth: number): number {
    this.#forget()
    const { starts, ends } = this
    let at = skipSpace(bytes, from + 1, to)
    if (at < to && bytes[at] === CLOSE_OBJECT) return at + 1
    for (;;) {
      if (at >= to || bytes[at] !== QUOTE) return fail(at)
      const keyStart = at + 1
      at = skipString(bytes, keyStart, to)
      if (at < 0) return at
      const key = this.#keys.find(bytes, keyStart, at - 1)
      if (bytes[at] !== COLON) at = skipSpace(bytes, at, to)
      if (at >= to || bytes[at] !== COLON) return fail(at)
      const start = skipSpace(bytes, at + 1, to)
      if (key >= 0 && key === this.#innerKey && this.inner !== undefined && bytes[start] === OPEN_OBJECT) {
        at = this.inner.#scanObject(bytes, start, to, depth + 1)
      } else if (key >= 0 && key === this.#parseKey) {
        this.parsed = undefined
        at =
          to - start > LONG ? this.#parseValue(bytes, start, to, depth) : skipValue(bytes, start, to, depth)
      } else at = skipValue(bytes, start, to, depth)
      if (at < 0) return at
      if (key >= 0) {
        starts[key] = start
        ends[key] = at
      }
      if (bytes[at] !== COMMA) at = skipSpace(bytes, at, to)
      if (at >= to) return fail(at)
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1, to)
      else return bytes[at] === CLOSE_OBJECT ? at + 1 : fail(at)
    }
  }

  /**
   * Guesses that the value ends where the same bytes follow that followed it the last time, and lets the parser say
   * whether it does: a list, an object or a string that parses ends nowhere else. A wrong guess costs time only.
   */
  #parseValue(bytes: Buffer, start: number, to: number, depth: number): number {
    const guess = this.#follower === undefined ? -1 : bytes.indexOf(this.#follower, start)
    if (guess > start && guess < to) {
      const value = parseJson(bytes.toString('utf8', start, guess))
      if (typeof value === 'string' || (typeof value === 'object' && isWithin(value, MAX_DEPTH - depth))) {
        this.parsed = { value }
        return guess
      }
    }
    const end = skipValue(bytes, start, to, depth)
    if (end > 0 && end + FOLLOWER <= to) this.#follower = Buffer.from(bytes.subarray(end, end + FOLLOWER))
    return end
  }
}

/** Whether a parsed value has at most so many levels. */
function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof child === 'object' && !isWithin(child, levels - 1)) return false
  }
  return true
}

/** From this length on a native search and the parser are faster than a scan. */
const LONG = 2048
const FOLLOWER = 8

/** Keys of the object under one of the keys; and so on. */
export interface InnerKeys {
  readonly under: string
  readonly keys: readonly string[]
  readonly inner?: InnerKeys
  /** One of the keys, whose value will be wanted: a long one is parsed where it stands instead of being scanned. */
  readonly parse?: string
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
