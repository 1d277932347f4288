import { parseJson } from '#base'
import { ObjectScanner } from './object-scanner.ts'

/**
 * Reads the values a scanner has found. Values that stand on nearly every line (`sessionId`, `cwd`…) are made into a
 * string once and then recognised by their bytes.
 */
export class FieldReader {
  readonly #scanner: ObjectScanner
  readonly #lastBytes: (Buffer | undefined)[]
  readonly #lastText: string[]
  readonly #inner = new ObjectScanner(['type'])

  constructor(scanner: ObjectScanner, keys: number) {
    this.#scanner = scanner
    this.#lastBytes = Array.from({ length: keys })
    this.#lastText = Array.from({ length: keys }, () => '')
  }

  has(key: number): boolean {
    return this.#scanner.starts[key]! >= 0
  }

  /** The value, if it is a string. */
  text(bytes: Buffer, key: number): string | undefined {
    const start = this.#scanner.starts[key]!
    return start < 0 || bytes[start] !== QUOTE ? undefined : decode(bytes, start, this.#scanner.ends[key]!)
  }

  /** The value, if it is a string; for values that are likely the same as on the line before. */
  repeated(bytes: Buffer, key: number): string | undefined {
    const start = this.#scanner.starts[key]!
    if (start < 0 || bytes[start] !== QUOTE) return undefined
    const end = this.#scanner.ends[key]!
    const last = this.#lastBytes[key]
    if (last !== undefined && last.length === end - start) {
      let same = 0
      while (same < last.length && last[same] === bytes[start + same]) same++
      if (same === last.length) return this.#lastText[key]
    }
    const text = decode(bytes, start, end)
    this.#lastBytes[key] = Buffer.from(bytes.subarray(start, end))
    this.#lastText[key] = text
    return text
  }

  isTrue(bytes: Buffer, key: number): boolean {
    const start = this.#scanner.starts[key]!
    return start >= 0 && bytes[start] === LETTER_T
  }

  /** Whether these bytes occur in the value. */
  contains(bytes: Buffer, key: number, needle: Buffer): boolean {
    const start = this.#scanner.starts[key]!
    return start >= 0 && bytes.subarray(start, this.#scanner.ends[key]).includes(needle)
  }

  /** The string under `type` of a value that is an object, without parsing the rest of it. */
  innerType(bytes: Buffer, key: number): string | undefined {
    const start = this.#scanner.starts[key]!
    if (start < 0) return undefined
    if (bytes.compare(TYPE_FIRST, 0, TYPE_FIRST.length, start, start + TYPE_FIRST.length) === 0) {
      const quote = start + TYPE_FIRST.length - 1
      const close = bytes.indexOf(QUOTE, quote + 1)
      return bytes.toString('utf8', quote + 1, close)
    }
    const end = this.#inner.scan(bytes, start, this.#scanner.ends[key]!)
    const from = this.#inner.starts[0]!
    return end < 0 || from < 0 || bytes[from] !== QUOTE ? undefined : decode(bytes, from, this.#inner.ends[0]!)
  }

  /** The value, parsed. */
  value(bytes: Buffer, key: number): unknown {
    const start = this.#scanner.starts[key]!
    return start < 0 ? undefined : parseJson(bytes.toString('utf8', start, this.#scanner.ends[key]))
  }
}

const TYPE_FIRST = Buffer.from('{"type":"')
const QUOTE = 0x22
const LETTER_T = 0x74
const BACKSLASH = 0x5c

/** The string whose quotes stand at `start` and `end - 1`. */
function decode(bytes: Buffer, start: number, end: number): string {
  let plain = true
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at]!
    if (byte >= 0x80 || byte === BACKSLASH) {
      plain = false
      break
    }
  }
  if (plain) return bytes.toString('latin1', start + 1, end - 1)
  const text = parseJson(bytes.toString('utf8', start, end))
  return typeof text === 'string' ? text : ''
}
