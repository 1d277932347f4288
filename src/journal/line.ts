import { parseJson } from '#base'

export type DamageReason = 'not-utf8' | 'not-json' | 'too-long'

export type LineContent = { readonly value: unknown } | { readonly damage: DamageReason }

/** No line of a journal is longer, newline not counted. It bounds the memory of everybody who reads one. */
export const MAX_LINE_BYTES: number = 32 * 1024 * 1024

export const NEWLINE = 0x0a

/** The bytes of a line with its newline. Throws on what JSON cannot say, and on a line that is too long. */
export function toLine(value: unknown): Buffer {
  // The declared result of `stringify` leaves out that functions, symbols and `undefined` give no text.
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`JSON has no form for a value of type ${typeof value}`)
  // JSON allows these two inside a string; many tools split lines at them.
  const line = Buffer.from(`${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`)
  if (line.length - 1 > MAX_LINE_BYTES) {
    throw new RangeError(
      `a line of ${line.length - 1} bytes is longer than the ${MAX_LINE_BYTES} a journal takes`,
    )
  }
  return line
}

/** What the bytes of a line (without its newline) say. Never throws. */
export function readLine(bytes: Uint8Array): LineContent {
  if (bytes.length > MAX_LINE_BYTES) return { damage: 'too-long' }
  const text = toText(bytes)
  if (text === undefined) return { damage: 'not-utf8' }
  const value = parseJson(text)
  return value === undefined ? { damage: 'not-json' } : { value }
}

function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
