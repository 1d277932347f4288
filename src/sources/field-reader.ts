import { number, parseJson } from '#base'
import { ObjectScanner } from './object-scanner.ts'

/**
 * Reads the values a scanner has found. Values that stand on nearly every line (`sessionId`, `cwd`…) are made into a
 * string once and then recognised by their bytes.
 */
export class FieldReader {
  readonly #scanner: ObjectScanner
  /** The last value of each key: its bytes, how many they are, and what they say. */
  readonly #bytes: Uint8Array
  readonly #lengths: Int32Array
  readonly #texts: string[]
  readonly #typeScanner = new ObjectScanner(['type'])

  constructor(scanner: ObjectScanner) {
    const keys = scanner.starts.length
    this.#scanner = scanner
    this.#bytes = new Uint8Array(keys * REMEMBERED)
    this.#lengths = new Int32Array(keys).fill(-1)
    this.#texts = Array.from({ length: keys }, () => '')
  }

  has(key: number): boolean {
    return this.#scanner.starts[key]! >= 0
  }

  /** The value, if it is a string. */
  text(bytes: Buffer, key: number): string | undefined {
    const start = this.#scanner.starts[key]!
    return start < 0 || bytes[start] !== QUOTE ? undefined : decode(bytes, start, this.#scanner.ends[key]!)
  }

  /**
   * The value, if it is a string; for values that are likely the same as on the line before, or the same as the last
   * value of another key.
   */
  repeated(bytes: Buffer, key: number, as: number = key): string | undefined {
    const start = this.#scanner.starts[key]!
    if (start < 0 || bytes[start] !== QUOTE) return undefined
    const end = this.#scanner.ends[key]!
    if (this.#isLast(bytes, start, end, as)) return this.#texts[as]
    const text = decode(bytes, start, end)
    if (key === as) this.#remember(bytes, start, end, key, text)
    return text
  }

  /** What `read` makes of the value; made anew only when it is another value than on the line before. */
  derived<T>(
    bytes: Buffer,
    key: number,
    last: { value: T | undefined },
    read: (value: unknown) => T,
  ): T | undefined {
    const start = this.#scanner.starts[key]!
    if (start < 0) return undefined
    const end = this.#scanner.ends[key]!
    if (last.value === undefined || !this.#isLast(bytes, start, end, key)) {
      last.value = read(this.value(bytes, key))
      this.#remember(bytes, start, end, key, '')
    }
    return last.value
  }

  /** The value, if it is a number. */
  number(bytes: Buffer, key: number): number | undefined {
    const start = this.#scanner.starts[key]!
    if (start < 0) return undefined
    const end = this.#scanner.ends[key]!
    let value = 0
    for (let at = start; at < end; at++) {
      const digit = bytes[at]! - DIGIT_0
      if (digit < 0 || digit > 9 || end - start > MAX_DIGITS)
        return number({ value: this.value(bytes, key) }, 'value')
      value = value * 10 + digit
    }
    return value
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
    if (startsWith(bytes, start, TYPE_FIRST)) {
      const quote = start + TYPE_FIRST.length - 1
      return decode(bytes, quote, bytes.indexOf(QUOTE, quote + 1) + 1)
    }
    const end = this.#typeScanner.scan(bytes, start, this.#scanner.ends[key]!)
    const from = this.#typeScanner.starts[0]!
    return end < 0 || from < 0 || bytes[from] !== QUOTE
      ? undefined
      : decode(bytes, from, this.#typeScanner.ends[0]!)
  }

  /** The value that the scanner parses on its way, if it does. */
  parsed(bytes: Buffer, key: number): unknown {
    return this.#scanner.parsed === undefined ? this.value(bytes, key) : this.#scanner.parsed.value
  }

  isObject(bytes: Buffer, key: number): boolean {
    const start = this.#scanner.starts[key]!
    return start >= 0 && bytes[start] === OPENING_BRACE
  }

  /** The value, parsed. */
  value(bytes: Buffer, key: number): unknown {
    const start = this.#scanner.starts[key]!
    if (start < 0) return undefined
    return parseJson(
      bytes.toString(this.#scanner.isAscii ? 'latin1' : 'utf8', start, this.#scanner.ends[key]),
    )
  }

  #isLast(bytes: Buffer, start: number, end: number, key: number): boolean {
    const length = end - start
    if (this.#lengths[key] !== length) return false
    const known = this.#bytes
    const at = key * REMEMBERED
    let same = 0
    while (same < length && known[at + same] === bytes[start + same]) same++
    return same === length
  }

  #remember(bytes: Buffer, start: number, end: number, key: number, text: string): void {
    const length = end - start
    if (length > REMEMBERED) {
      this.#lengths[key] = -1
      return
    }
    const at = key * REMEMBERED
    for (let byte = 0; byte < length; byte++) this.#bytes[at + byte] = bytes[start + byte]!
    this.#lengths[key] = length
    this.#texts[key] = text
  }
}

/** The longest value that is recognised. */
const REMEMBERED = 1024

const TYPE_FIRST = Buffer.from('{"type":"')
const QUOTE = 0x22
const OPENING_BRACE = 0x7b
const DIGIT_0 = 0x30
/** A number of so many digits is exact. */
const MAX_DIGITS = 15
const LETTER_T = 0x74
const BACKSLASH = 0x5c

function startsWith(bytes: Buffer, start: number, prefix: Buffer): boolean {
  let same = 0
  while (same < prefix.length && prefix[same] === bytes[start + same]) same++
  return same === prefix.length
}

/** The string whose quotes stand at `start` and `end - 1`. */
function decode(bytes: Buffer, start: number, end: number): string {
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at]!
    if (byte < 0x80 && byte !== BACKSLASH) continue
    const text = parseJson(bytes.toString('utf8', start, end))
    return typeof text === 'string' ? text : ''
  }
  return bytes.toString('latin1', start + 1, end - 1)
}
