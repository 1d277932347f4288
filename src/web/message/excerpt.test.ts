import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { toLineDiff } from '#model'
import { findFirstLine, foldContext, takeRows, toDiffRows } from './diff-rows.ts'
import { toExcerpt } from './excerpt.ts'

const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')

test('[WEB24] of a long output the beginning and the end are shown, never more than a page holds', () => {
  const text = fc.oneof(
    fc.nat(2000).map(lines),
    fc.string({ maxLength: 50_000, unit: 'binary' }),
    fc.nat(100_000).map((length) => '😀'.repeat(length)),
  )
  fc.assert(
    fc.property(text, (whole) => {
      const { head, tail, hiddenLines } = toExcerpt(whole)
      expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true)
      expect(head.length + tail.length).toBeLessThanOrEqual(20_000)
      expect(`${head}\n${tail}`.split('\n').length).toBeLessThanOrEqual(202)
      if (tail === '') expect({ head, hiddenLines }).toEqual({ head: whole, hiddenLines: 0 })
      // No character is cut in two.
      if (!/\p{Cs}/u.test(whole)) expect(`${head}|${tail}`).not.toMatch(/\p{Cs}/u)
    }),
    runs(100),
  )
})

test('[WEB24] it says how many lines are not shown', () => {
  const { head, tail, hiddenLines, lines: all } = toExcerpt(lines(500))
  expect({ all, hiddenLines }).toEqual({ all: 500, hiddenLines: 320 })
  expect([head.split('\n').at(-1), tail.split('\n')[0]]).toEqual(['line 120', 'line 441'])
})

test('[WEB25] a diff shows every change, numbered where it is known, with three lines around it', () => {
  const texts = fc
    .array(fc.constantFrom('a', 'b', 'c', '', '  x'), { maxLength: 40 })
    .map((all) => all.join('\n'))
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const diff = toLineDiff(before, after)
      const rows = toDiffRows(diff, 1)
      const stretches = foldContext(rows)
      expect(stretches.flatMap((stretch) => stretch.rows)).toEqual(rows)
      expect(
        stretches.every(({ folded, rows: inside }) => !folded || inside.every(({ kind }) => kind === 'same')),
      ).toBe(true)
      const numbers = rows.flatMap((row) => row.after ?? [])
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    }),
    runs(200),
  )
})

test('[WEB25] a long diff is cut by what is seen of it: changes that are far apart are all there', () => {
  const before = Array.from({ length: 3000 }, (_, at) => `line ${at}`)
  const after = before.map((line, at) => (at % 300 === 0 ? `${line}!` : line))
  const few = foldContext(toDiffRows(toLineDiff(before.join('\n'), after.join('\n')), 1))
  expect(takeRows(few, 200)).toBe(few)
  const anew = foldContext(toDiffRows(toLineDiff(before.join('\n'), ''), 1))
  const cut = takeRows(anew, 200)
  expect(cut.flatMap(({ rows }) => rows)).toEqual(anew.flatMap(({ rows }) => rows).slice(0, 200))
})

test('[WEB25] what changed inside of a line is found', () => {
  const rows = toDiffRows(toLineDiff('const line = 20', 'const line = twenty()'), undefined)
  expect(rows.map(({ changed, text }) => text.slice(...(changed ?? [0, 0])))).toEqual(['20', 'twenty()'])
  expect(rows.every((row) => row.before === undefined && row.after === undefined)).toBe(true)
})

test('[WEB25] an edit is numbered by what its answer shows, and not at all where that is nothing', () => {
  const input = { file_path: 'a', old_string: 'b\nc', new_string: 'b\nd' }
  const call = (text: string): Parameters<typeof findFirstLine>[0] => ({
    use: { kind: 'tool-use', id: 't', name: 'Edit', input },
    state: 'done',
    result: { entryId: 'e', content: [{ kind: 'text', text }], isError: false },
  })
  const diff = toLineDiff('b\nc', 'b\nd')
  expect(findFirstLine(call('updated:\n    11→a\n    12→b\n    13→d'), diff)).toBe(12)
  expect(findFirstLine(call('updated successfully'), diff)).toBeUndefined()
})
