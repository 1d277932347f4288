/** A stretch of a text that may be base64: where it stands, and what it says when it is read from `offset` on. */
export interface Decoded {
  readonly start: number
  readonly text: string
  /** Where the characters of the text from here to there are written. */
  place(from: number, to: number): { readonly start: number; readonly end: number }
}

/** Shorter ones hold no secret that is worth the name. */
const SHORTEST = 20

/** Every run of the alphabet, read in each of the four ways in which its characters may belong together. */
export function* readBase64(text: string): Generator<Decoded> {
  for (const { index, run } of runsOf(text)) {
    // Base64 of words has capitals: a run without one is a path, a name or a number.
    if (!/[A-Z]/.test(run)) continue
    // A run that holds a separator may be a path, with the base64 only behind one.
    const ways = /[/_+-]/.test(run) ? 4 : 1
    for (let offset = 0; offset < ways; offset += 1) {
      const start = index + offset
      const decoded = decode(run, offset)
      yield {
        start,
        text: decoded,
        place: (from, to) => ({
          start: start + Math.floor(from / 3) * 4,
          end: Math.min(start + Math.ceil(to / 3) * 4, index + run.length),
        }),
      }
    }
  }
}

interface Run {
  readonly index: number
  readonly run: string
}

/** Looks at every twentieth character, and closer only where it is one of the alphabet. */
function* runsOf(text: string): Generator<Run> {
  for (let at = 0; at + SHORTEST <= text.length;) {
    const probe = at + SHORTEST - 1
    let start = probe + 1
    while (start > at && IS_DIGIT[text.charCodeAt(start - 1)] === 1) start -= 1
    if (start > probe) {
      at = probe + 1
      continue
    }
    let end = probe + 1
    while (end < text.length && IS_DIGIT[text.charCodeAt(end)] === 1) end += 1
    if (end - start >= SHORTEST) yield { index: start, run: text.slice(start, end) }
    at = end + 1
  }
}

const IS_DIGIT = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w+/-]/.test(String.fromCharCode(code)) ? 1 : 0,
)

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Of both alphabets: that of URLs has `-` and `_` for `+` and `/`. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code).replace('-', '+').replace('_', '/')
  return Math.max(0, DIGITS.indexOf(char))
})

/** One character per byte. `atob` is not part of the language, and stops at what it does not know. */
function decode(run: string, offset: number): string {
  const codes = new Uint16Array(Math.floor(((run.length - offset) * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (let index = offset; index < run.length; index += 1) {
    bits = ((bits << 6) | (VALUES[run.charCodeAt(index)] ?? 0)) & 0xffff
    held += 6
    if (held < 8) continue
    held -= 8
    codes[at] = (bits >> held) & 0xff
    at += 1
  }
  let text = ''
  for (let from = 0; from < at; from += 8192) {
    text += String.fromCharCode(...codes.subarray(from, Math.min(at, from + 8192)))
  }
  return text
}
