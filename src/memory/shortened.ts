/** A text, whole or with its middle left out. */
export interface Shortened {
  readonly text: string
  readonly form: 'full' | 'shortened'
}

export interface ShorteningOptions {
  /** Whether a text is short enough. */
  readonly fits: (text: string) => boolean
  /** A text as it may leave; `undefined` when it may not. */
  readonly clean: (text: string) => string | undefined
  /** Characters beyond which nothing can fit: what lies further inside is not looked at. */
  readonly most: number
}

/**
 * A text that is short enough: as it is, or its beginning and its end with a line between them that says how much is
 * missing. Cut between words, after it was cleaned; `undefined` when it may not leave or nothing of it fits.
 */
export function toShortened(text: string, { fits, clean, most }: ShorteningOptions): Shortened | undefined {
  const isWithin = text.length <= most * 2
  const cleaned = clean(isWithin ? text : text.slice(0, most))
  const ending = isWithin ? '' : clean(text.slice(-most))
  if (cleaned === undefined || ending === undefined) return undefined
  if (isWithin && fits(cleaned)) return { text: cleaned, form: 'full' }
  const whole = {
    head: cleaned,
    tail: isWithin ? cleaned : ending,
    between: isWithin ? 0 : text.length - 2 * most,
  }
  let low = 0
  let high = Math.min(most, cleaned.length)
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (fits(cut(whole, middle))) low = middle
    else high = middle - 1
  }
  return low === 0 ? undefined : { text: cut(whole, low), form: 'shortened' }
}

interface Ends {
  readonly head: string
  readonly tail: string
  readonly between: number
}

/** Two thirds from the beginning, a third from the end. */
function cut({ head, tail, between }: Ends, length: number): string {
  const first = toWordEnd(head, Math.ceil((length * 2) / 3))
  const last = toWordStart(tail, tail.length - Math.floor(length / 3))
  const inside = head === tail ? Math.max(0, last - first) : head.length - first + last
  return `${head.slice(0, first).trimEnd()}\n(… ${between + inside} characters left out …)\n${tail.slice(last).trimStart()}`
}

/** A word that is longer than this is cut inside. */
const LONGEST_WORD = 40

function toWordEnd(text: string, at: number): number {
  for (let end = at; end > at - LONGEST_WORD && end > 0; end -= 1) {
    if (/\s/.test(text.charAt(end))) return end
  }
  return isInsidePair(text, at) ? at - 1 : at
}

function toWordStart(text: string, at: number): number {
  for (let start = at; start < at + LONGEST_WORD && start < text.length; start += 1) {
    if (/\s/.test(text.charAt(start))) return start
  }
  return isInsidePair(text, at) ? at + 1 : at
}

function isInsidePair(text: string, at: number): boolean {
  const code = text.codePointAt(at - 1) ?? 0
  return at > 0 && code > 0xffff
}
