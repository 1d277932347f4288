import type { Query } from './query.ts'
import type { Term } from './query-term.ts'

/** One spelling of a term, as words that must follow each other. */
interface Form {
  readonly tokens: readonly string[]
  /** The last word is the beginning of one. */
  readonly isPrefix: boolean
  /** Where to go on when a word does not fit: for each length, the longest beginning that is also an end. */
  readonly fallback: Int32Array
  /** The terms it is a spelling of, numbered over the whole query. */
  readonly terms: readonly number[]
  /** Whether one of them is wanted. */
  readonly wanted: boolean
}

/** A query made ready for comparing with texts. */
export interface Plan {
  readonly forms: readonly Form[]
  /** For each word, the forms it stands in. */
  readonly byToken: ReadonlyMap<string, readonly number[]>
  /** Forms that end in the beginning of a word. */
  readonly prefixes: readonly number[]
  /** For each clause its terms. */
  readonly clauses: readonly { readonly terms: readonly number[]; readonly not: boolean }[]
  readonly terms: number
  /** What words that are looked for begin with, below 128; others may begin with anything. */
  readonly firsts: Uint8Array
}

/** Prepares a query. Spellings that several terms share are looked for once. */
export function toPlan(query: Query): Plan {
  const drafts = new Map<
    string,
    { tokens: readonly string[]; isPrefix: boolean; terms: number[]; wanted: boolean }
  >()
  let terms = 0
  const addTerm = (term: Term, not: boolean): number => {
    const number = terms++
    const isPrefix = term.kind === 'prefix'
    for (const tokens of term.forms) {
      const key = `${tokens.join(' ')}${isPrefix ? '*' : ''}`
      const draft = drafts.get(key) ?? { tokens, isPrefix, terms: [], wanted: false }
      draft.terms.push(number)
      draft.wanted ||= !not
      drafts.set(key, draft)
    }
    return number
  }
  const clauses = query.clauses.map(({ any, not }) => ({ terms: any.map((term) => addTerm(term, not)), not }))
  const forms = [...drafts.values()].map((draft): Form => ({ ...draft, fallback: toFallback(draft.tokens) }))
  const byToken = new Map<string, number[]>()
  const firsts = new Uint8Array(128)
  for (const [n, { tokens, isPrefix }] of forms.entries()) {
    for (const token of new Set(isPrefix ? tokens.slice(0, -1) : tokens)) {
      byToken.set(token, [...(byToken.get(token) ?? []), n])
    }
    for (const token of tokens) firsts[token.charCodeAt(0)] = 1
  }
  const prefixes = forms.flatMap(({ isPrefix }, n) => (isPrefix ? [n] : []))
  return { forms, byToken, prefixes, clauses, terms, firsts }
}

function toFallback(tokens: readonly string[]): Int32Array {
  const fallback = new Int32Array(tokens.length + 1)
  let length = 0
  for (let n = 1; n < tokens.length; n++) {
    while (length > 0 && tokens[n] !== tokens[length]) length = fallback[length] ?? 0
    if (tokens[n] === tokens[length]) length++
    fallback[n + 1] = length
  }
  return fallback
}

/** Compares the words of a text with a plan, one after another. */
export interface Comparison {
  /**
   * Takes the next word. Calls back for every form that ends with it, with the number of the form's first word,
   * counted from 0.
   */
  next(token: string): void
  /** A word that is in no form. */
  skip(): void
}

/** Each word costs no more than the number of forms it stands in, whatever the text. */
export function compare(plan: Plan, onForm: (form: number, firstWord: number) => void): Comparison {
  const { forms, byToken, prefixes } = plan
  const lengths = new Int32Array(forms.length)
  /** The word at which a length was noted; it counts only for the word after it. */
  const notedAt = new Int32Array(forms.length).fill(-2)
  let word = 0

  function step(n: number, token: string): void {
    const form = forms[n]
    if (form === undefined || notedAt[n] === word) return
    const { tokens, fallback, isPrefix } = form
    const exact = isPrefix ? tokens.length - 1 : tokens.length
    let length = notedAt[n] === word - 1 ? (lengths[n] ?? 0) : 0
    if (isPrefix && length === exact && token.startsWith(tokens[exact] ?? '')) onForm(n, word - exact)
    while (length > 0 && (length >= exact || tokens[length] !== token)) length = fallback[length] ?? 0
    if (length < exact && tokens[length] === token) length++
    if (!isPrefix && length === exact) {
      onForm(n, word - exact + 1)
      length = fallback[length] ?? 0
    }
    lengths[n] = length
    notedAt[n] = word
  }

  return {
    next(token) {
      for (const n of byToken.get(token) ?? NONE) step(n, token)
      for (const n of prefixes) step(n, token)
      word++
    },
    skip() {
      word++
    },
  }
}

const NONE: readonly number[] = []
