import type { Effort } from '../secret.ts'
import type { Decoded } from './base64.ts'

/** A line of `xxd` or `hexdump -C`, up to what stands at its right. */
const LINE = /^(?:[\da-f]{6,8}: |[\da-f]{6,8} {1,2})((?:[\da-f]{2}(?:[\da-f]{2})? {1,2}){1,16})/i
const LONGEST_LINE = 160
const BYTES = 16

/** The lines of dumps that follow each other, as the bytes that they show. */
export function* readDumps(text: string, effort: Effort): Generator<Decoded> {
  let bytes: DumpedByte[] = []
  for (let at = 0; at < text.length;) {
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    const line = IS_DIGIT[text.charCodeAt(at)] === 1 && end - at <= LONGEST_LINE ? text.slice(at, end) : ''
    const hex = line === '' ? undefined : LINE.exec(line)
    if (hex === null || hex === undefined) {
      if (bytes.length > BYTES) yield toDecoded(bytes)
      bytes = []
    } else {
      effort.spend(line.length * 4)
      const from = at + hex[0].length - (hex[1]?.length ?? 0)
      const pairs = [...(hex[1] ?? '').matchAll(/[\da-f]{2}/gi)].slice(0, BYTES)
      for (const { 0: pair, index } of pairs)
        bytes.push({ code: Number.parseInt(pair, 16), start: from + index, end })
    }
    at = end + 1
  }
  if (bytes.length > BYTES) yield toDecoded(bytes)
}

interface DumpedByte {
  readonly code: number
  readonly start: number
  /** Of its line: what the bytes mean stands at its right. */
  readonly end: number
}

function toDecoded(bytes: readonly DumpedByte[]): Decoded {
  return {
    start: bytes[0]?.start ?? 0,
    text: Buffer.from(bytes.map(({ code }) => code)).toString('latin1'),
    place: (first, last) => ({ start: bytes[first]?.start ?? 0, end: bytes[last - 1]?.end ?? 0 }),
  }
}

const IS_DIGIT = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\da-f]/i.test(String.fromCharCode(code)) ? 1 : 0,
)
