import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toQuery } from '#store'
import { runs } from '#testing'
import { addFacet, facetsOf } from './query-text.ts'

test('[WEB40] the chips of the web app and the search language agree on what is a facet', () => {
  const parts = [
    '"',
    ' ',
    ' ',
    '-',
    'NOT ',
    'tool:bash',
    'tool:',
    'x',
    'kind:reply',
    '“',
    'y z',
    'in:said',
    '*',
    'AND ',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 10 }), (typed) => {
      const text = typed.join('')
      const { tools } = toQuery(text, 0).facets
      const chips = facetsOf(text).filter(({ name }) => name === 'tool')
      expect([
        ...new Set(chips.filter(({ negated }) => !negated).map(({ value }) => value.toLowerCase())),
      ]).toEqual(tools.any)
      expect([
        ...new Set(chips.filter(({ negated }) => negated).map(({ value }) => value.toLowerCase())),
      ]).toEqual(tools.none)
      expect(
        toQuery(addFacet(text, { name: 'workdir', value: '/a b', negated: false }), 0).facets.workdirs.any,
      ).toEqual(['/a b'])
    }),
    runs(500),
  )
})
