import { prefixOf, rarityOf, scoreField } from './recall-index.ts'
import type { RecallIndex } from './recall-index.ts'
import { stemOf, toStems, toTerms } from './words.ts'

/** What is looked at of each turn when something is asked, in this order. */
export const FEATURES = [
  'own',
  'next',
  'beforePrevious',
  'afterNext',
  'session',
  'speaker',
  'asks',
  'ownAsks',
  'answers',
  'covered',
  'coveredNear',
  'coveredAround',
  'pairs',
  'length',
  'tellsTime',
  'resembles',
  'resemblesNear',
  'sessionBest',
] as const

/** Weights of the features, by name. */
export type FeatureWeights = Readonly<Record<(typeof FEATURES)[number], number>>

/** The features of a turn, by its number. */
export interface FeatureRow {
  readonly turn: number
  readonly features: Float64Array
}

const TURN = { k1: 0.6, b: 0.35 }
const SESSION = { k1: 1.2, b: 0.6 }
const TIME_WORDS = new Set(
  (
    'yesterday today tomorrow tonight ago week weekend month year morning evening day days monday tuesday wednesday ' +
    'thursday friday saturday sunday january february march april june july august september october november december'
  )
    .split(' ')
    .map(stemOf),
)
/** How many turns are looked at closely, and how far around each of them. */
const CLOSELY = 400
const AROUND = 2

/** What a question asks for: its terms without the names of those who speak, and who of them it names. */
function toAsked(
  question: string,
  { names }: RecallIndex,
): { readonly terms: readonly string[]; readonly speakers: ReadonlySet<string>; readonly when: boolean } {
  const all = toStems(question)
  const speakers = new Set(all.flatMap((term) => names.get(term) ?? []))
  const terms = all.filter((term) => !names.has(term))
  // A question that is only a name asks for the name.
  return { terms: terms.length > 0 ? terms : all, speakers, when: toTerms(question).includes('when') }
}

/** The features of all turns that an answer could be in: those that have words of the question, and their neighbours. */
export function toFeatureRows(question: string, index: RecallIndex): readonly FeatureRow[] {
  const { turns, byTurn, bySession, sessionOf, terms: texts } = index
  const { terms, speakers, when } = toAsked(question, index)
  const unique = [...new Set(terms)]
  const own = toShares(scoreField(unique, byTurn, TURN))
  const sessions = toShares(scoreField(unique, bySession, SESSION))
  if (!own) return []
  const rarities = new Map(unique.map((term) => [term, rarityOf(term, byTurn)]))
  const total = [...rarities.values()].reduce((sum, one) => sum + one, 0)
  const held = toHeld(unique, index)
  const pairs = toPairs(terms)
  const alike = toResemblance(unique, index)
  const best = toSessionBest(own, index)
  const isHere = (n: number, other: number): boolean =>
    sessionOf[n] !== undefined && sessionOf[n] === sessionOf[other]
  const at = (values: Float64Array, n: number, step: number): number =>
    isHere(n, n + step) ? (values[n + step] ?? 0) : 0
  const covers = (n: number, reach: number): number => {
    const found = new Set<string>()
    for (let step = -reach; step <= reach; step++)
      if (isHere(n, n + step)) for (const term of held[n + step] ?? []) found.add(term)
    let sum = 0
    for (const term of found) sum += rarities.get(term) ?? 0
    return sum / total
  }
  return toCandidates(own, alike, sessionOf).map((n) => {
    const turn = turns[n]
    const score = own[n] ?? 0
    const isNamed = speakers.size > 0 && turn?.speaker !== undefined && speakers.has(turn.speaker) ? 1 : 0
    const isOther = speakers.size > 0 && isNamed === 0 ? 1 : 0
    const asks = isQuestion(turn?.text ?? '') ? 1 : 0
    const follows = isHere(n, n - 1) && isQuestion(turns[n - 1]?.text ?? '')
    const words = texts[n] ?? []
    const features = Float64Array.of(
      score,
      at(own, n, 1),
      at(own, n, -2),
      at(own, n, 2),
      sessions?.[sessionOf[n] ?? 0] ?? 0,
      isNamed - isOther,
      asks,
      score * asks,
      follows ? at(own, n, -1) : 0,
      covers(n, 0),
      covers(n, 1),
      covers(n, 2),
      pairs.length === 0
        ? 0
        : pairs.filter(([a, b]) => words.some((word, k) => word === a && words[k + 1] === b)).length /
            pairs.length,
      Math.log(1 + words.length) / 4,
      when && words.some((word) => TIME_WORDS.has(word)) ? 1 : 0,
      alike[n] ?? 0,
      at(alike, n, -1) + at(alike, n, 1),
      best[sessionOf[n] ?? 0] ?? 0,
    )
    return { turn: n, features }
  })
}

/** In the order of the turns. */
function toCandidates(
  own: Float64Array,
  alike: Float64Array,
  sessionOf: readonly number[],
): readonly number[] {
  const found = [...own.keys()].filter((n) => (own[n] ?? 0) + (alike[n] ?? 0) > 0)
  const best = found
    .toSorted((a, b) => (own[b] ?? 0) - (own[a] ?? 0) || (alike[b] ?? 0) - (alike[a] ?? 0) || a - b)
    .slice(0, CLOSELY)
  const candidates = new Set<number>()
  for (const n of best) {
    for (let step = -AROUND; step <= AROUND; step++)
      if (sessionOf[n + step] === sessionOf[n]) candidates.add(n + step)
  }
  return [...candidates].toSorted((a, b) => a - b)
}

function isQuestion(text: string): boolean {
  return text.trimEnd().endsWith('?')
}

/** Each as a share of the greatest; `undefined` when there is none. */
function toShares(scores: Float64Array): Float64Array | undefined {
  const most = scores.reduce((max, score) => Math.max(max, score), 0)
  return most > 0 ? scores.map((score) => score / most) : undefined
}

/** Which of the terms each turn holds. */
function toHeld(terms: readonly string[], { turns, byTurn }: RecallIndex): readonly (readonly string[])[] {
  const held: string[][] = turns.map(() => [])
  for (const term of terms) for (const n of byTurn.postings.get(term)?.keys() ?? []) held[n]?.push(term)
  return held
}

function toPairs(terms: readonly string[]): readonly (readonly [string, string])[] {
  return terms.flatMap((term, n) => {
    const next = terms[n + 1]
    return next === undefined ? [] : [[term, next] as const]
  })
}

/** How much of what is asked stands in a turn only in a word that begins the same. */
function toResemblance(terms: readonly string[], { turns, byTurn, byPrefix }: RecallIndex): Float64Array {
  const sums = new Float64Array(turns.length)
  const asked = terms.filter((term) => prefixOf(term) !== undefined)
  let total = 0
  for (const term of asked) {
    const rarity = rarityOf(term, byTurn)
    total += rarity
    const seen = new Set<number>(byTurn.postings.get(term)?.keys())
    for (const word of byPrefix.get(prefixOf(term) ?? '') ?? []) {
      for (const n of byTurn.postings.get(word)?.keys() ?? []) {
        if (seen.has(n)) continue
        seen.add(n)
        sums[n] = (sums[n] ?? 0) + rarity
      }
    }
  }
  return total === 0 ? sums : sums.map((sum) => sum / total)
}

/** The best turn of each session. */
function toSessionBest(own: Float64Array, { sessionOf, sessionIds }: RecallIndex): Float64Array {
  const best = new Float64Array(sessionIds.length)
  for (const [n, score] of own.entries()) {
    const session = sessionOf[n] ?? 0
    best[session] = Math.max(best[session] ?? 0, score)
  }
  return best
}
