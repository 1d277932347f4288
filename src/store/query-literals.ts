import type { Query } from './query.ts'

/**
 * Words of ASCII letters and digits of which at least one stands in every text that the query matches, whatever the
 * case; accents may stand on its letters. `undefined` when there are none to look for.
 */
export function findLiterals(query: Query): readonly string[] | undefined {
  let best: readonly string[] | undefined
  for (const { any, not } of query.clauses) {
    if (not) continue
    const literals = any.flatMap(({ forms }) => forms.map(longestPlain))
    if (literals.includes('')) continue
    if (best === undefined || shortest(literals) > shortest(best)) best = literals
  }
  if (best === undefined) return undefined
  const distinct = [...new Set(best)]
  // What has a shorter one in it is found with that.
  return distinct.filter((word) => !distinct.some((other) => other !== word && word.includes(other)))
}

function longestPlain(tokens: readonly string[]): string {
  let longest = ''
  for (const token of tokens) if (token.length > longest.length && /^[a-z0-9]+$/.test(token)) longest = token
  return longest
}

function shortest(words: readonly string[]): number {
  return Math.min(...words.map(({ length }) => length))
}
