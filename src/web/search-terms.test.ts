import { expect, test } from 'vitest'
import { toTerms } from './search-terms.ts'

test('[WEB23] of a query the words and phrases are marked, and not its facets, signs and what it leaves out', () => {
  expect(toTerms('Parse* "two Words" tool:bash -not OR in:said a')).toEqual(['two words', 'parse'])
  expect(toTerms('')).toEqual([])
  expect(toTerms('"open phrase')).toEqual([])
})
