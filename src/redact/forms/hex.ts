import type { Effort } from '../secret.ts'
import type { Decoded } from './base64.ts'

/** Sixteen bytes: shorter ones hold no secret that is worth the name. */
const SHORTEST = 32

/** Bytes that are listed, in hex or as numbers: `67 68`, `67:68`, `0x67, 0x68`, `[103, 104]`, `6768 705f`. */
const LISTED =
  /(?:0x)?[\da-f]{2}([ :-]|, ?)(?:0x)?[\da-f]{2}\1(?:(?:0x)?[\da-f]{2}\1){13,}(?:0x)?[\da-f]{2}|[1-9]\d{1,2}(, ?)[1-9]\d{1,2}\2(?:\d{1,3}\2){13,}\d{1,3}|[\da-f]{4} [\da-f]{4} (?:[\da-f]{4} ){4,}[\da-f]{2,4}/gi

const DIGITS = /[\da-f]{32,}/gi

/** Every run of hex digits, and every list of bytes. */
export function* readHex(text: string, effort: Effort): Generator<Decoded> {
  for (const { start, end } of stretchesOf(text)) {
    const stretch = text.slice(start, end)
    effort.spend(stretch.length * 4)
    for (const { 0: digits, index } of stretch.matchAll(DIGITS)) {
      // Which two digits belong together is not known.
      yield decodeDigits(digits, start + index)
      yield decodeDigits(digits.slice(1), start + index + 1)
    }
    for (const { 0: list, 2: decimal, index } of stretch.matchAll(LISTED))
      yield decodeList(list, start + index, decimal === undefined ? 16 : 10)
  }
}

function decodeDigits(digits: string, start: number): Decoded {
  return {
    start,
    text: Buffer.from(digits, 'hex').toString('latin1'),
    place: (first, last) => ({ start: start + first * 2, end: start + last * 2 }),
  }
}

function decodeList(list: string, index: number, radix: number): Decoded {
  const numbers = [...list.matchAll(radix === 10 ? /\d+/g : /(?:0x)?([\da-f]{2})/gi)]
  const codes = numbers.map(({ 0: whole, 1: digits = whole }) => Number.parseInt(digits, radix))
  const at = (nth: number): number => index + (numbers[nth]?.index ?? 0)
  return {
    start: index,
    text: String.fromCharCode(...codes.slice(0, LONGEST_LIST).map((code) => (code > 255 ? 0 : code))),
    place: (first, last) => ({ start: at(first), end: at(last - 1) + (numbers[last - 1]?.[0].length ?? 0) }),
  }
}

/** As many arguments as a call may have. */
const LONGEST_LIST = 32_768

interface Stretch {
  readonly start: number
  readonly end: number
}

/** Where nothing stands but what lists of bytes consist of. Looks at every thirty-second character, and closer there. */
function* stretchesOf(text: string): Generator<Stretch> {
  for (let at = 0; at + SHORTEST <= text.length;) {
    const probe = at + SHORTEST - 1
    let start = probe + 1
    while (start > at && isPart(text, start - 1)) start -= 1
    if (start > probe) {
      at = probe + 1
      continue
    }
    let end = probe + 1
    while (end < text.length && isPart(text, end)) end += 1
    if (end - start >= SHORTEST) yield { start, end }
    at = end + 1
  }
}

function isPart(text: string, at: number): boolean {
  return IS_PART[text.charCodeAt(at)] === 1
}

const IS_PART = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\da-fx ,:-]/i.test(String.fromCharCode(code)) ? 1 : 0,
)
