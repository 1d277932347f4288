import { stemOf, toStems, toTerms } from './words.ts'

/** One thing that was said, to be found again. Turns are given in the order in which they were said. */
export interface RecallTurn {
  readonly id: string
  readonly sessionId: string
  /** The name of who said it. */
  readonly speaker?: string
  readonly text: string
  /** When, as ISO 8601 or any text that says so. */
  readonly at?: string
  /** What else tells about it: learnings promoted out of it, the description of a picture. */
  readonly notes?: readonly string[]
}

/** How often a term stands in something, by its number. Longer and weaker fields count less. */
type Postings = ReadonlyMap<string, ReadonlyMap<number, number>>

/** Texts as BM25 sees them. */
export interface Field {
  readonly postings: Postings
  readonly lengths: readonly number[]
  readonly averageLength: number
}

/** What is known of all turns before anybody asks. */
export interface RecallIndex {
  readonly turns: readonly RecallTurn[]
  /** The terms of each turn, in order. */
  readonly terms: readonly (readonly string[])[]
  readonly byTurn: Field
  readonly bySession: Field
  /** The terms that begin with the same letters. */
  readonly byPrefix: ReadonlyMap<string, readonly string[]>
  /** The number of each turn's session. */
  readonly sessionOf: readonly number[]
  readonly sessionIds: readonly string[]
  /** Stems of the names of those who speak, and whose they are. */
  readonly names: ReadonlyMap<string, string>
}

const PREFIX = 4
const NOTE_WEIGHT = 1
const DATE_WEIGHT = 0.3
const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
)

/** The index of turns. Pure; what is asked of it does not change it. */
export function toRecallIndex(turns: readonly RecallTurn[]): RecallIndex {
  const sessionIds = [...new Set(turns.map(({ sessionId }) => sessionId))]
  const numbers = new Map(sessionIds.map((id, n) => [id, n]))
  const sessionOf = turns.map(({ sessionId }) => numbers.get(sessionId) ?? 0)
  const terms = turns.map(({ text }) => toStems(text))
  const weighted = turns.map((turn, n) => toWeights(turn, terms[n] ?? []))
  const sessions = sessionIds.map(() => new Map<string, number>())
  for (const [n, weights] of weighted.entries()) {
    const session = sessions[sessionOf[n] ?? 0]
    if (session) for (const [term, weight] of weights) session.set(term, (session.get(term) ?? 0) + weight)
  }
  const byTurn = toField(weighted)
  return {
    turns,
    terms,
    byTurn,
    byPrefix: toPrefixes(byTurn.postings.keys()),
    bySession: toField(sessions),
    sessionOf,
    sessionIds,
    names: toNames(turns),
  }
}

/** What a term tells: the rarer, the more. */
export function rarityOf(term: string, { postings, lengths }: Field): number {
  const holding = postings.get(term)?.size ?? 0
  return Math.log(1 + (lengths.length - holding + 0.5) / (holding + 0.5))
}

/** BM25 of each text for some terms. */
export function scoreField(
  terms: Iterable<string>,
  field: Field,
  { k1, b }: { readonly k1: number; readonly b: number },
): Float64Array {
  const scores = new Float64Array(field.lengths.length)
  for (const term of terms) {
    const rarity = rarityOf(term, field)
    for (const [n, count] of field.postings.get(term) ?? []) {
      const length = 1 - b + (b * (field.lengths[n] ?? 0)) / field.averageLength
      scores[n] = (scores[n] ?? 0) + (rarity * count * (k1 + 1)) / (count + k1 * length)
    }
  }
  return scores
}

/** The words that a time is spoken of with: its day, month and year. */
export function toDateTerms(at: string | undefined): readonly string[] {
  if (at === undefined) return []
  const iso = /^(\d{4})-(\d{2})-(\d{2})/.exec(at)
  if (!iso) return toStems(at).filter((term) => !/^(?:am|pm)$/.test(term))
  const [, year = '', month = '', day = ''] = iso
  return [year, stemOf(MONTHS[Number(month) - 1] ?? month), String(Number(day))]
}

/** What terms that resemble each other begin with; short ones resemble nothing. */
export function prefixOf(term: string): string | undefined {
  return term.length > PREFIX ? term.slice(0, PREFIX) : undefined
}

function toPrefixes(terms: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const prefixes = new Map<string, string[]>()
  for (const term of terms) {
    const prefix = prefixOf(term)
    const known = prefix === undefined ? undefined : prefixes.get(prefix)
    if (known) known.push(term)
    else if (prefix !== undefined) prefixes.set(prefix, [term])
  }
  return prefixes
}

function toWeights(turn: RecallTurn, terms: readonly string[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  const add = (some: readonly string[], weight: number): void => {
    for (const term of some) weights.set(term, (weights.get(term) ?? 0) + weight)
  }
  add(terms, 1)
  for (const note of turn.notes ?? []) add(toStems(note), NOTE_WEIGHT)
  add(toDateTerms(turn.at), DATE_WEIGHT)
  return weights
}

function toField(texts: readonly ReadonlyMap<string, number>[]): Field {
  const postings = new Map<string, Map<number, number>>()
  const lengths = texts.map((weights, n) => {
    let length = 0
    for (const [term, weight] of weights) {
      const holding = postings.get(term) ?? new Map<number, number>()
      postings.set(term, holding.set(n, weight))
      length += weight
    }
    return length
  })
  const all = lengths.reduce((sum, length) => sum + length, 0)
  return { postings, lengths, averageLength: Math.max(1, all / Math.max(1, texts.length)) }
}

function toNames(turns: readonly RecallTurn[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const speaker of new Set(turns.map((turn) => turn.speaker)))
    if (speaker !== undefined) for (const word of toTerms(speaker)) names.set(stemOf(word), speaker)
  return names
}
