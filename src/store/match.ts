import { identifierParts, isNameCharacter, nameAround, partStarts } from './identifier.ts'
import { compare, toPlan, type Plan } from './match-forms.ts'
import type { Query } from './query.ts'
import { createTokenReader, toTokens } from './tokens.ts'

/** Says what a query finds in a text: the same that an index with the tokenizer of `tokens.ts` says. */
export interface Matcher {
  /** Whether all clauses hold. Facets are somebody else's business. */
  matches(text: string): boolean
  /** Where the wanted terms stand, in UTF-16 units, in order and apart from each other. At most `limit`. */
  marks(text: string, limit: number): readonly (readonly [start: number, end: number])[]
  /** The same with the term that stands there, and where they overlap all of them. */
  finds(text: string, limit: number): readonly Find[]
}

/** A place in a text where a term of the query stands. */
export interface Find {
  readonly start: number
  readonly end: number
  /** The number of the term, counted over the whole query. */
  readonly term: number
}

/** Prepares a query for comparing with texts. Time grows with the text alone, whatever is in it. */
export function createMatcher(query: Query): Matcher {
  const plan = toPlan(query)
  return {
    matches: (text) => matches(plan, text),
    marks: (text, limit) => merge(finds(plan, text, limit * 2)).slice(0, limit),
    finds: (text, limit) => finds(plan, text, limit),
  }
}

function matches(plan: Plan, text: string): boolean {
  const found = new Uint8Array(plan.terms)
  const isDecided = plan.clauses.every(({ not }) => !not)
  let news = false
  const comparison = compare(plan, (form) => {
    for (const term of plan.forms[form]?.terms ?? []) {
      news ||= found[term] === 0
      found[term] = 1
    }
  })
  const holds = (): boolean =>
    plan.clauses.every(({ terms, not }) => terms.some((term) => found[term] === 1) !== not)
  if (plan.clauses.length === 0) return true
  for (const piece of [text, ' ']) {
    // What is indexed beside the text comes behind it, in the same count of words.
    const words = piece === ' ' ? identifierParts(text) : piece
    const reader = createTokenReader(words)
    while (reader.next()) {
      const first = reader.first()
      if (first < 128 && plan.firsts[first] === 0) {
        comparison.skip()
        continue
      }
      news = false
      comparison.next(reader.token())
      if (news && isDecided && holds()) return true
    }
  }
  return holds()
}

function finds(plan: Plan, text: string, limit: number): readonly Find[] {
  const found: Find[] = []
  const starts: number[] = []
  const reader = createTokenReader(text)
  const comparison = compare(plan, (form, firstWord) => {
    add(form, starts[firstWord % RING] ?? reader.start, reader.end)
  })
  function add(form: number, start: number, end: number): void {
    const spelling = plan.forms[form]
    if (spelling?.wanted !== true) return
    for (const term of spelling.terms)
      if (found.length < limit && isWanted(plan, term)) found.push({ start, end, term })
  }
  for (let word = 0; found.length < limit && reader.next(); word++) {
    starts[word % RING] = reader.start
    if (isHumped(text, reader.start, reader.end)) findParts(plan, text, reader, add)
    const first = reader.first()
    if (first < 128 && plan.firsts[first] === 0) comparison.skip()
    else comparison.next(reader.token())
  }
  return found.toSorted((a, b) => a.start - b.start || a.end - b.end)
}

/** More words than a query can have in a row. */
const RING = 2048

/** Looks for forms in the parts of the names of one word. */
function findParts(
  plan: Plan,
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  add: (form: number, start: number, end: number) => void,
): void {
  for (let at = start; at < end;) {
    if (!isNameCharacter(text.charCodeAt(at))) {
      at++
      continue
    }
    const [from, to] = nameAround(text, at)
    const starts = partStarts(text.slice(from, to)).map((offset) => from + offset)
    at = to
    if (starts.length < 2) continue
    const ends = [...starts.slice(1), to]
    const tokens = starts.map((offset, n) => toTokens(text.slice(offset, ends[n])))
    // Parts are made of letters and digits: each is one word.
    let part = 0
    const comparison = compare(plan, (form, first) => add(form, starts[first] ?? from, ends[part] ?? to))
    for (const [token = ''] of tokens) {
      comparison.next(token)
      part++
    }
  }
}

function isHumped(text: string, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code >= 65 && code <= 90) return true
  }
  return false
}

function isWanted(plan: Plan, term: number): boolean {
  return plan.clauses.some(({ terms, not }) => !not && terms.includes(term))
}

function merge(all: readonly Find[]): readonly (readonly [number, number])[] {
  const merged: (readonly [number, number])[] = []
  for (const { start, end } of all) {
    const last = merged.at(-1)
    if (last !== undefined && start < last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], end)]
    else merged.push([start, end])
  }
  return merged
}
