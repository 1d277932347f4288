import { KeyTable } from './key-table.ts'
import { MAX_DEPTH } from './json-walk.ts'

/**
 * The scanner for records too large to hold: the same verdict and the same places as `ObjectScanner`, from bytes
 * fed in pieces, in constant memory. A byte automaton, three times slower than the scanner.
 */
export class ObjectAutomaton {
  /** Where the value of key n begins and ends, relative to the first byte fed; -1 when the key does not occur. */
  readonly starts: Float64Array
  readonly ends: Float64Array
  readonly #keys: KeyTable
  readonly #stack: Uint8Array = new Uint8Array(MAX_DEPTH + 1)
  #depth = 0
  #state: number = START
  #current = -1
  /** The bytes of a key that stretches over two pieces. */
  #keyHead: number[] = []

  constructor(keys: readonly string[]) {
    this.#keys = new KeyTable(keys)
    this.starts = new Float64Array(keys.length).fill(-1)
    this.ends = new Float64Array(keys.length).fill(-1)
  }

  begin(): void {
    this.starts.fill(-1)
    this.ends.fill(-1)
    this.#depth = 0
    this.#state = START
    this.#current = -1
    this.#keyHead = []
  }

  /** Goes on with `bytes[from, to)`, of which the first byte is byte number `base` of the object. */
  feed(bytes: Uint8Array, from: number, to: number, base: number): Progress {
    const stack = this.#stack
    const shift = base - from
    let depth = this.#depth
    let state = this.#state
    // A key that goes on from the piece before begins, for this piece, with its first byte.
    let keyStart = from
    let at = from

    for (; at < to; at++) {
      let byte = bytes[at]!
      // Nearly all bytes are inside strings: stay in this loop as long as nothing ends or escapes.
      if (state === STRING) {
        while (PLAIN[byte] === 1) {
          if (++at === to) break
          byte = bytes[at]!
        }
        if (at === to) break
        if (byte === QUOTE) {
          state = AFTER
          if (depth === 1) this.#endValue(at + 1 + shift)
        } else if (byte === BACKSLASH) state = ESCAPE
        else return failed('garbage', at + shift)
        continue
      }
      switch (state) {
        case KEY:
          while (PLAIN[byte] === 1) {
            if (++at === to) break
            byte = bytes[at]!
          }
          if (at === to) break
          if (byte === QUOTE) {
            state = COLON
            if (depth === 1) this.#current = this.#findKey(bytes, keyStart, at)
          } else if (byte === BACKSLASH) state = KEY_ESCAPE
          else return failed('garbage', at + shift)
          break
        case ESCAPE:
        case KEY_ESCAPE:
          if (byte === 0x75) state = state === ESCAPE ? HEX : KEY_HEX
          else if (ESCAPABLE[byte] === 1) state = state === ESCAPE ? STRING : KEY
          else return failed('garbage', at + shift)
          break
        case HEX:
        case HEX + 1:
        case HEX + 2:
        case HEX + 3:
          if (HEX_DIGIT[byte] !== 1) return failed('garbage', at + shift)
          state = state === HEX + 3 ? STRING : state + 1
          break
        case KEY_HEX:
        case KEY_HEX + 1:
        case KEY_HEX + 2:
        case KEY_HEX + 3:
          if (HEX_DIGIT[byte] !== 1) return failed('garbage', at + shift)
          state = state === KEY_HEX + 3 ? KEY : state + 1
          break
        case COLON:
          if (byte === 0x3a) state = VALUE
          else if (SPACE[byte] !== 1) return failed('garbage', at + shift)
          break
        case FIRST_KEY:
        case NEXT_KEY:
          if (byte === QUOTE) {
            state = KEY
            keyStart = at + 1
          } else if (byte === CLOSE_OBJECT && state === FIRST_KEY) {
            depth--
            state = AFTER
            if (depth === 0) return { kind: 'whole', length: at + 1 + shift }
            if (depth === 1) this.#endValue(at + 1 + shift)
          } else if (SPACE[byte] !== 1) return failed('garbage', at + shift)
          break
        case START:
          if (byte === OPEN_OBJECT) {
            depth = 1
            stack[1] = OBJECT
            state = FIRST_KEY
          } else if (SPACE[byte] !== 1) return failed('garbage', at + shift)
          break
        case FIRST_ELEMENT:
        case VALUE:
          if (SPACE[byte] === 1) break
          if (byte === CLOSE_ARRAY && state === FIRST_ELEMENT) {
            depth--
            state = AFTER
            if (depth === 1) this.#endValue(at + 1 + shift)
            break
          }
          if (depth === 1) this.#startValue(at + shift)
          if (byte === QUOTE) state = STRING
          else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
            if (depth === MAX_DEPTH) return failed('too-deep', at + shift)
            depth++
            stack[depth] = byte === OPEN_OBJECT ? OBJECT : ARRAY
            state = byte === OPEN_OBJECT ? FIRST_KEY : FIRST_ELEMENT
          } else {
            state = WORD_START[byte]!
            if (state === 0) return failed('garbage', at + shift)
          }
          break
        case AFTER:
          if (byte === COMMA) state = stack[depth] === OBJECT ? NEXT_KEY : VALUE
          else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
            if (stack[depth] !== (byte === CLOSE_OBJECT ? OBJECT : ARRAY))
              return failed('garbage', at + shift)
            depth--
            if (depth === 0) return { kind: 'whole', length: at + 1 + shift }
            if (depth === 1) this.#endValue(at + 1 + shift)
          } else if (SPACE[byte] !== 1) return failed('garbage', at + shift)
          break
        default: {
          // Inside a number or one of `true`, `false`, `null`.
          const next = WORDS[(state - MINUS) * 128 + (byte & 0x7f)]!
          if (byte < 0x80 && next !== 0) {
            state = next
            if (state === AFTER && depth === 1) this.#endValue(at + 1 + shift)
            break
          }
          if (ENDS_NUMBER[state] !== 1) return failed('garbage', at + shift)
          state = AFTER
          if (depth === 1) this.#endValue(at + shift)
          at-- // this byte is still to be read, as what follows the number
        }
      }
    }

    const inKey = state === KEY || state === KEY_ESCAPE || (state >= KEY_HEX && state < KEY_HEX + 4)
    if (inKey && depth === 1) {
      for (let byte = keyStart; byte < to; byte++) this.#keyHead.push(bytes[byte]!)
    }
    this.#depth = depth
    this.#state = state
    return INCOMPLETE
  }

  #startValue(at: number): void {
    if (this.#current >= 0) {
      this.starts[this.#current] = at
      this.ends[this.#current] = -1
    }
  }

  #endValue(at: number): void {
    if (this.#current >= 0) this.ends[this.#current] = at
    this.#current = -1
  }

  #findKey(bytes: Uint8Array, from: number, to: number): number {
    if (this.#keyHead.length === 0) return this.#keys.find(bytes, from, to)
    const whole = Uint8Array.from([...this.#keyHead, ...bytes.subarray(from, to)])
    this.#keyHead = []
    return this.#keys.find(whole, 0, whole.length)
  }
}

export type Progress =
  /** A whole object of this many bytes. What follows it was not looked at. */
  | { readonly kind: 'whole'; readonly length: number }
  /** So far the beginning of an object. */
  | { readonly kind: 'incomplete' }
  /** Not an object; `at` is the byte that shows it. */
  | { readonly kind: 'garbage' | 'too-deep'; readonly at: number }

const INCOMPLETE: Progress = { kind: 'incomplete' }

function failed(kind: 'garbage' | 'too-deep', at: number): Progress {
  return { kind, at }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OBJECT = 1
const ARRAY = 2

// States. Everything from MINUS on is inside a number or a word.
const STRING = 1
const KEY = 2
const ESCAPE = 3
const KEY_ESCAPE = 4
const HEX = 5 // to 8
const KEY_HEX = 9 // to 12
const COLON = 13
const FIRST_KEY = 14
const NEXT_KEY = 15
const START = 16
const VALUE = 17
const FIRST_ELEMENT = 18
const AFTER = 19
const MINUS = 20
const ZERO = 21
const INTEGER = 22
const POINT = 23
const FRACTION = 24
const EXPONENT = 25
const EXPONENT_SIGN = 26
const EXPONENT_DIGITS = 27
const WORD = 28 // and following: one state per letter already read

const PLAIN = new Uint8Array(256).fill(1, 0x20)
PLAIN[QUOTE] = 0
PLAIN[BACKSLASH] = 0
const SPACE = bytesOf(' \t\r\n')
const ESCAPABLE = bytesOf('"\\/bfnrt')
const HEX_DIGIT = bytesOf('0123456789abcdefABCDEF')
const ENDS_NUMBER = new Uint8Array(64)
for (const state of [ZERO, INTEGER, FRACTION, EXPONENT_DIGITS]) ENDS_NUMBER[state] = 1

const WORD_START = new Uint8Array(256)
const WORDS = new Uint8Array(64 * 128)
function arrow(from: number, letters: string, to: number): void {
  for (const letter of letters) WORDS[(from - MINUS) * 128 + letter.charCodeAt(0)] = to
}
WORD_START[0x2d] = MINUS
WORD_START[0x30] = ZERO
for (let digit = 0x31; digit <= 0x39; digit++) WORD_START[digit] = INTEGER
arrow(MINUS, '0', ZERO)
arrow(MINUS, '123456789', INTEGER)
arrow(INTEGER, '0123456789', INTEGER)
for (const whole of [ZERO, INTEGER]) arrow(whole, '.', POINT)
arrow(POINT, '0123456789', FRACTION)
arrow(FRACTION, '0123456789', FRACTION)
for (const mantissa of [ZERO, INTEGER, FRACTION]) arrow(mantissa, 'eE', EXPONENT)
arrow(EXPONENT, '+-', EXPONENT_SIGN)
for (const before of [EXPONENT, EXPONENT_SIGN, EXPONENT_DIGITS]) arrow(before, '0123456789', EXPONENT_DIGITS)
let letterState = WORD
for (const word of ['true', 'false', 'null']) {
  WORD_START[word.charCodeAt(0)] = letterState
  for (let letter = 1; letter < word.length; letter++) {
    const last = letter === word.length - 1
    arrow(letterState, word.charAt(letter), last ? AFTER : letterState + 1)
    letterState++
  }
}

function bytesOf(letters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const letter of letters) table[letter.charCodeAt(0)] = 1
  return table
}
