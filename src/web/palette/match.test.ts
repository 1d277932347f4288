import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SessionSummary } from '#model'
import { runs } from '#testing'
import { toChoices } from './choices.ts'
import { findMatch } from './match.ts'

function sessionOf(id: string, name: string, more: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    agent: 'claude',
    path: `/${id}`,
    size: 1,
    name,
    workdirs: ['/home/a/shop'],
    workdirsComplete: true,
    subagents: [],
    toolResults: [],
    archived: false,
    state: 'ok',
    ...more,
  }
}

test('[WEB50] letters match in their order, words in any', () => {
  expect(findMatch('ffrt', 'Fix flaky reconnect test')?.places).toEqual([0, 4, 10, 20])
  expect(findMatch('test fix', 'Fix flaky reconnect test')?.places).toEqual([0, 1, 2, 20, 21, 22, 23])
  expect(findMatch('txet', 'Fix')).toBeUndefined()
  expect(
    findMatch('umlaut', 'Refactor journal writer into a smaller state machine that is tested'),
  ).toBeUndefined()
  expect(findMatch('', 'anything')?.places).toEqual([])
})

test('[WEB50] what was typed in a row, and at the beginning of a word, is better', () => {
  const score = (typed: string, text: string): number => findMatch(typed, text)?.score ?? -Infinity
  expect(score('test', 'the test')).toBeGreaterThan(score('test', 'the contest'))
  expect(score('test', 'contest')).toBeGreaterThan(score('test', 'take each step to'))
  expect(score('lb', 'LineBreak')).toBeGreaterThan(score('lb', 'allow number'))
})

test('[WEB50] every place that is marked is a letter that was typed, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), fc.string({ maxLength: 4 }), (text, typed) => {
      const match = findMatch(typed, text)
      for (const place of match?.places ?? []) {
        expect(typed.toLowerCase()).toContain(text.charAt(place).toLowerCase())
      }
    }),
    runs(100),
  )
})

test('[WEB51] the palette offers recent sessions first, then places, then actions', () => {
  const sessions = Array.from({ length: 20 }, (_none, n) => sessionOf(`s${n}`, `Session number ${n}`))
  const actions = [
    { id: 'theme', label: 'Light or dark', run() {} },
    { id: 'home', label: 'Start page', run() {} },
  ]
  const choices = toChoices('', sessions, actions)
  expect(choices.map(({ id }) => id)).toEqual([
    ...sessions.slice(0, 7).map(({ id }) => `session-${id}`),
    'place-search',
    'place-board',
    'place-memory',
    'place-usage',
    'action-home',
    'action-theme',
  ])
})

test('[WEB51] sessions are found by name, folder, prompt and id, and what is not found can be searched for', () => {
  const sessions = [
    sessionOf('aa11', 'Release', { firstPrompt: 'please ship the umbrella' }),
    sessionOf('bb22', 'Umbrella stand'),
    sessionOf('cc33', 'Other', { workdirs: ['/home/a/umbrella'] }),
  ]
  const found = (typed: string): readonly string[] =>
    toChoices(typed, sessions, []).flatMap(({ id }) => (id.startsWith('session-') ? [id.slice(8)] : []))
  expect(found('umbrella')).toEqual(['bb22', 'cc33', 'aa11'])
  expect(found('other umbrella')).toEqual(['cc33'])
  expect(found('bb22')).toEqual(['bb22'])
  expect(toChoices('nowhere zq', sessions, []).map(({ id }) => id)).toEqual(['search-for'])
})
