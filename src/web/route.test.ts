import * as fc from 'fast-check'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { parseRoute, toHash, type Route } from './route.ts'

const word = fc.string({ minLength: 1, unit: 'grapheme' })

const routes: fc.Arbitrary<Route> = fc.oneof(
  fc.constant<Route>({ kind: 'home' }),
  fc.constant<Route>({ kind: 'usage' }),
  fc.constant<Route>({ kind: 'board' }),
  word.map((q): Route => ({ kind: 'search', q })),
  fc
    .record({
      id: fc.option(word),
      show: fc.constantFrom(undefined, 'review' as const, 'artifacts' as const),
    })
    .map(({ id, show }): Route => ({
      kind: 'memory',
      ...(id === null ? {} : { id }),
      ...(show === undefined ? {} : { show }),
    })),
  fc
    .record({ id: word, entry: fc.option(word), subagent: fc.option(word), facts: fc.boolean() })
    .map(({ id, entry, subagent, facts }): Route => ({
      kind: 'session',
      id,
      ...(entry === null ? {} : { entry }),
      ...(subagent === null ? {} : { subagent }),
      ...(facts ? { show: 'facts' as const } : {}),
    })),
)

test('[C8.1] [WEB1] an address leads back to the place it was made from', () => {
  fc.assert(
    fc.property(routes, (route) => {
      expect(parseRoute(toHash(route))).toEqual(route)
    }),
    runs(200),
  )
})

test('[WEB1] an address that is not understood is the start page, and nothing in it breaks the app', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (hash) => {
      expect(['home', 'session', 'search', 'usage', 'board', 'memory']).toContain(parseRoute(hash).kind)
    }),
    runs(200),
  )
  expect(parseRoute('')).toEqual({ kind: 'home' })
  expect(parseRoute('#session=')).toEqual({ kind: 'home' })
  expect(parseRoute('#session=abc&entry=')).toEqual({ kind: 'session', id: 'abc' })
})
