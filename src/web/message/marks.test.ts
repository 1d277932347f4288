import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { hasMark, splitMarks } from './marks.tsx'

test('[WEB23] what is looked for is marked whatever its case, and no character is lost', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.array(fc.string({ maxLength: 4 }), { maxLength: 4 }),
      (text, words) => {
        const marks = words.map((word) => word.toLowerCase())
        const stretches = splitMarks(text, marks)
        expect(stretches.map((stretch) => stretch.text).join('')).toBe(text)
        expect(hasMark(text, marks)).toBe(stretches.some((stretch) => stretch.marked))
      },
    ),
    runs(300),
  )
})

test('[WEB23] the longest word wins, and characters with a meaning in patterns have none', () => {
  expect(splitMarks('Index in [a.b]*', ['in', 'index', '[a.b]*'])).toEqual([
    { text: 'Index', marked: true },
    { text: ' ', marked: false },
    { text: 'in', marked: true },
    { text: ' ', marked: false },
    { text: '[a.b]*', marked: true },
  ])
})
