import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import type { SearchHit } from '#wire'
import { toHitGroups, toSnippetParts } from './hit-groups.ts'

function hitOf(session: string, entry: string): SearchHit {
  return {
    session: { id: session, agent: 'claude' },
    entry: { id: entry, kind: 'prompt', place: { offset: 0, length: 1 }, cursor: '' },
    where: 'said',
    isError: false,
    snippet: { text: '', marks: [] },
  }
}

test('[WEB41] neighbours of one session are a group, and the order stays', () => {
  const hits = [hitOf('a', '1'), hitOf('a', '2'), hitOf('b', '3'), hitOf('a', '4')]
  const groups = toHitGroups(hits)
  expect(groups.map((group) => group.hits.map(({ entry }) => entry.id))).toEqual([['1', '2'], ['3'], ['4']])
  expect(new Set(groups.map(({ key }) => key)).size).toBe(3)
})

test('[WEB41] marks stand where they should, and no letter of a snippet is lost or doubled, whatever the marks', () => {
  expect(toSnippetParts({ text: 'a red fox', marks: [[2, 5]] })).toEqual([
    { text: 'a ', marked: false },
    { text: 'red', marked: true },
    { text: ' fox', marked: false },
  ])
  const marks = fc.array(fc.tuple(fc.integer({ min: -3, max: 30 }), fc.integer({ min: -3, max: 30 })))
  fc.assert(
    fc.property(fc.string(), marks, (text, all) => {
      const parts = toSnippetParts({ text, marks: all })
      expect(parts.map((part) => part.text).join('')).toBe(text)
    }),
    runs(200),
  )
})
