import * as fc from 'fast-check'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { toWordDiff } from './word-diff.ts'

test('[MWB9] a difference names the words that differ, and holds both texts whole', () => {
  expect(toWordDiff('needs Node 20.', 'needs Node 22.')).toEqual([
    { kind: 'same', text: 'needs Node ' },
    { kind: 'removed', text: '20' },
    { kind: 'added', text: '22' },
    { kind: 'same', text: '.' },
  ])
  expect(toWordDiff('read once at the start.', 'read once and kept.').map(({ text: part }) => part)).toEqual([
    'read once ',
    'at the start',
    'and kept',
    '.',
  ])
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(fc.constantFrom('a', 'b', ' ', '\n', '\r\n', '"', '\\', '\u2028'), { maxLength: 20 })
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, text, (before, after) => {
      const parts = toWordDiff(before, after)
      const read = (without: string): string =>
        parts.map((part) => (part.kind === without ? '' : part.text)).join('')
      expect(read('added')).toBe(before)
      expect(read('removed')).toBe(after)
    }),
    runs(200),
  )
})
