import type { Query } from './query.ts'
import type { Term } from './query-term.ts'

/**
 * The query as an expression for MATCH of an FTS5 table with one column and the tokenizer of `tokens.ts`. Nothing of
 * what was typed can be syntax there: only letters and digits are left of it, in quotes. `undefined` when there is no
 * word to look for.
 */
export function toMatch(query: Query): string | undefined {
  const wanted = query.clauses.filter(({ not }) => !not).map(({ any }) => oneOf(any))
  if (wanted.length === 0) return undefined
  const unwanted = query.clauses.filter(({ not }) => not).flatMap(({ any }) => any)
  const all = wanted.join(' AND ')
  return unwanted.length === 0 ? all : `(${all}) NOT ${oneOf(unwanted)}`
}

function oneOf(terms: readonly Term[]): string {
  const forms = terms.flatMap(({ kind, forms: spellings }) =>
    spellings.map((tokens) => `"${tokens.join(' ')}"${kind === 'prefix' ? ' *' : ''}`),
  )
  return forms.length === 1 ? forms.join('') : `(${forms.join(' OR ')})`
}
