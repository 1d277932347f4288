import { runs } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMatcher } from './match.ts'
import { toQuery } from './query.ts'
import { toSnippet } from './snippet.ts'

const snippet = (text: string, asked: string, width?: number): ReturnType<typeof toSnippet> =>
  toSnippet(text, createMatcher(toQuery(asked, 0)), width === undefined ? {} : { width })
const shown = (text: string, asked: string, width?: number): string => {
  const { text: line, marks } = snippet(text, asked, width)
  let out = ''
  let at = 0
  for (const [start, end] of marks) {
    out += `${line.slice(at, start)}[${line.slice(start, end)}]`
    at = end
  }
  return out + line.slice(at)
}

test('[SEA9] a snippet is one line with the matches marked', () => {
  expect(shown('first\n\n  second\tthird', 'second')).toBe('first [second] third')
  expect(shown('  padded  ', 'padded')).toBe('[padded]')
  expect(shown('a parse_line b', 'parseLine')).toBe('a [parse_line] b')
  expect(shown('nothing of it', 'other')).toBe('nothing of it')
  expect(shown('', 'other')).toBe('')
})

test('[SEA9] it stands where most of what was searched for is together, cut between words', () => {
  const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n}`).join(' ')
  const text = `${words(100)} alpha ${words(100)} alpha and beta ${words(100)}`
  expect(shown(text, 'alpha beta', 60)).toBe(
    '…word98 word99 [alpha] and [beta] word0 word1 word2 word3 word4…',
  )
  expect(shown(`${words(50)} alpha`, 'alpha', 30)).toBe('…word49 [alpha]')
  expect(shown(`alpha ${words(50)}`, 'alpha', 20)).toBe('[alpha] word0 word1…')
  expect(shown(`${'x'.repeat(500)}Needle${'y'.repeat(500)}`, 'needle*', 20)).toMatch(/^x{20}…$/)
})

test('[SEA9] nothing in it acts on a terminal or a page', () => {
  expect(shown('\u001b[31mred\u001b[0m needle \u202eevil\u0007\u0000', 'needle')).toBe('red [needle] evil')
  expect(shown('\u001b]8;;http://x\u0007link\u001b]8;;\u0007 needle', 'needle')).toBe('link [needle]')
  expect(shown('half \ud83d needle', 'needle')).toBe('half \ufffd [needle]')
})

test('[SEA9] marks are inside the line and on what was searched for, whatever the text', () => {
  const unit = fc.constantFrom(
    'needle',
    'NEEDLE',
    ' ',
    '\n',
    '\u0000',
    '😀',
    'é',
    'e\u0301',
    '\u001b[1m',
    'word',
    '\ud800',
    '中',
    '\u200d',
    'x'.repeat(30),
  )
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 60 }), fc.integer({ min: 8, max: 80 }), (units, width) => {
      const text = units.join('')
      const { text: line, marks } = snippet(text, 'needle word*', width)
      expect(line.length).toBeLessThanOrEqual(width + 2)
      expect(line).not.toMatch(/\p{Cs}/u)
      expect(line).not.toMatch(/\p{Cc}|[\u202a-\u202e]|\s\s/u)
      let last = 0
      for (const [start, end] of marks) {
        expect(start).toBeGreaterThanOrEqual(last)
        expect(end).toBeGreaterThan(start)
        last = end
      }
      expect(last).toBeLessThanOrEqual(line.length)
      const wanted = createMatcher(toQuery('needle word*', 0)).marks(text, 1)
      if (wanted.length > 0 && (wanted[0]?.[1] ?? 0) - (wanted[0]?.[0] ?? 0) < width)
        expect(marks).not.toEqual([])
    }),
    runs(1500),
  )
})

test('[SEA9] [SEA8] a text of 50 MB takes no longer than the part that is looked at', () => {
  const text = `${'some words and more '.repeat(2_500_000)}needle`
  const started = performance.now()
  expect(snippet(text, 'needle').text).toMatch(/^some words/)
  expect(snippet(' '.repeat(50_000_000), 'needle').text).toBe('…')
  expect(performance.now() - started).toBeLessThan(5000)
})
