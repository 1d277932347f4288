import { isAscii } from 'node:buffer'
import { findLiterals, leadsOf, type Query } from '#store'

/** Tells which lines may match, from their bytes alone. Lets some through that do not, and loses none that do. */
export interface LineFilter {
  /**
   * Where the lines of `bytes[0, to)` that may match begin and end, in order. Lines with the bytes `elsewhere` keep some
   * of their text in other files, and may match whatever stands in them.
   */
  find(bytes: Buffer, to: number, elsewhere?: Buffer): readonly LinePlace[]
}

interface LinePlace {
  readonly from: number
  readonly to: number
}

/**
 * Looks for a word of the query, whatever its case. Agents write letters and digits into JSON as they are, never as
 * `\u`, so a line that has the word in some text has it in its bytes, unless one of its letters has an accent: those
 * are looked for around the characters that can be one.
 */
export function createLineFilter(query: Query): LineFilter {
  const literals = findLiterals(query)
  if (literals === undefined) return { find: (bytes, to) => allLines(bytes, to) }
  const pattern = new RegExp(literals.join('|'), 'gi')
  const longest = Math.max(...literals.map(({ length }) => length))
  const accents = toAccents(literals)
  return {
    find(bytes, to, elsewhere) {
      const lines = new LineSet(bytes, to)
      for (let from = 0; from < to;) {
        const text = bytes.toString('latin1', from, Math.min(to, from + WINDOW + longest))
        let next = from + WINDOW
        pattern.lastIndex = 0
        while (pattern.test(text)) {
          const end = lines.addAround(from + pattern.lastIndex - 1)
          pattern.lastIndex = end - from
          if (pattern.lastIndex < text.length) continue
          next = Math.max(next, end)
          break
        }
        from = next
      }
      const region = bytes.length === to ? bytes : bytes.subarray(0, to)
      if (!isAscii(region)) findAccents(region, accents, lines)
      if (elsewhere !== undefined) addMentioning(region, elsewhere, lines)
      return lines.sorted()
    },
  }
}

function addMentioning(bytes: Buffer, needle: Buffer, lines: LineSet): void {
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, lines.addAround(at)));
}

/** Searched at a time. Longer strings are made in another place of the heap, which costs more than the search. */
const WINDOW = 48 * 1024

/** The signs for kelvin and angstrom begin like this. Dashes and quotes share the first byte, and are no letters. */
const LETTER_SIGNS = [0xe2, 0x84] as const

interface Accents {
  readonly literals: readonly string[]
  /** What characters begin with that can be a letter with an accent, or a mark. */
  readonly needles: readonly (number | Buffer)[]
  readonly isLead: Uint8Array
}

function toAccents(literals: readonly string[]): Accents {
  const leads = leadsOf(literals.join(''))
  const isLead = new Uint8Array(256)
  for (const lead of leads) isLead[lead] = 1
  const needles = leads.map((lead) => (lead === LETTER_SIGNS[0] ? Buffer.from(LETTER_SIGNS) : lead))
  return { literals, needles, isLead }
}

function findAccents(bytes: Buffer, accents: Accents, lines: LineSet): void {
  for (const needle of accents.needles) {
    for (let at = bytes.indexOf(needle); at >= 0;) {
      const next = mayBePart(bytes, at, accents) ? lines.addAround(at) : at + 2
      at = bytes.indexOf(needle, next)
    }
  }
}

/** Whether the accented characters at a place can be letters of a word whose others stand around them. */
function mayBePart(bytes: Buffer, from: number, { literals, isLead }: Accents): boolean {
  // One that follows another is looked at together with it.
  if (isAccentBefore(bytes, from, isLead)) return false
  let to = from
  let most = 0
  while (isAccent(bytes, to, isLead)) {
    to++
    most++
    while ((bytes[to] ?? 0) >> 6 === 2) to++
  }
  return literals.some((word) => {
    for (let before = 0; before <= word.length; before++) {
      if (!endsWith(bytes, from, word.slice(0, before), isLead)) continue
      const last = Math.min(word.length, before + most)
      for (let after = before; after <= last; after++) {
        if (goesOn(bytes, to, word.slice(after), isLead)) return true
      }
    }
    return false
  })
}

const NEWLINE = 0x0a

/** Whether these letters stand before a place, as far back as the next letter with an accent. */
function endsWith(bytes: Buffer, place: number, letters: string, isLead: Uint8Array): boolean {
  for (let n = 1; n <= letters.length; n++) {
    const byte = bytes[place - n] ?? 0
    if (byte >= 0x80) return isAccentBefore(bytes, place - n + 1, isLead)
    if ((byte | 0x20) !== (letters.charCodeAt(letters.length - n) | 0x20)) return false
  }
  return true
}

function isAccentBefore(bytes: Buffer, place: number, isLead: Uint8Array): boolean {
  let at = place - 1
  while (at >= 0 && (bytes[at] ?? 0) >> 6 === 2) at--
  return at >= 0 && isAccent(bytes, at, isLead)
}

/** Whether a character begins here that can be a letter with an accent: exactly those that are looked for. */
function isAccent(bytes: Buffer, at: number, isLead: Uint8Array): boolean {
  const byte = bytes[at] ?? 0
  return isLead[byte] === 1 && (byte !== LETTER_SIGNS[0] || bytes[at + 1] === LETTER_SIGNS[1])
}

/** Whether these letters stand at a place, as far as the next letter with an accent. */
function goesOn(bytes: Buffer, place: number, letters: string, isLead: Uint8Array): boolean {
  for (let n = 0; n < letters.length; n++) {
    const byte = bytes[place + n] ?? 0
    if (byte >= 0x80) return isAccent(bytes, place + n, isLead)
    if ((byte | 0x20) !== (letters.charCodeAt(n) | 0x20)) return false
  }
  return true
}

/** Lines, each once. */
class LineSet {
  readonly #bytes: Buffer
  readonly #to: number
  readonly #ends = new Map<number, number>()

  constructor(bytes: Buffer, to: number) {
    this.#bytes = bytes
    this.#to = to
  }

  /** Adds the line that a place is in, and gives its end. */
  addAround(place: number): number {
    const from = this.#bytes.lastIndexOf(NEWLINE, place) + 1
    const known = this.#ends.get(from)
    if (known !== undefined) return known
    const newline = this.#bytes.indexOf(NEWLINE, place)
    const to = newline < 0 || newline > this.#to ? this.#to : newline
    this.#ends.set(from, to)
    return to
  }

  sorted(): readonly LinePlace[] {
    return [...this.#ends].map(([from, to]) => ({ from, to })).toSorted((a, b) => a.from - b.from)
  }
}

function allLines(bytes: Buffer, to: number): readonly LinePlace[] {
  const lines: LinePlace[] = []
  for (let from = 0; from < to;) {
    const newline = bytes.indexOf(NEWLINE, from)
    const end = newline < 0 || newline > to ? to : newline
    if (end > from) lines.push({ from, to: end })
    from = end + 1
  }
  return lines
}
