import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { languageOf, readNumberedLines } from './numbered-lines.ts'

test('[WEB32] a file that was read is shown as code, each line with its number', () => {
  const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' '))
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1 }),
      fc.integer({ min: 1, max: 90_000 }),
      fc.constantFrom('→', '\t'),
      (lines, first, sign) => {
        const text = lines
          .map((words, index) => `${String(first + index).padStart(6)}${sign}${words}`)
          .join('\n')
        expect(readNumberedLines(text)).toEqual({ first, lines, rest: '' })
        expect(readNumberedLines(`${text}\n\n<note>`)).toEqual({ first, lines, rest: '\n<note>' })
      },
    ),
    runs(200),
  )
})

test('[WEB32] what only looks like it is left alone', () => {
  expect(readNumberedLines('plain\n  2→b')).toBeUndefined()
  expect(readNumberedLines('     1→a\n     7→b')).toEqual({ first: 1, lines: ['a'], rest: '     7→b' })
  expect(['src/a.ts', 'Makefile', 'a.tar.gz', '.env'].map(languageOf)).toEqual(['ts', '', 'gz', 'env'])
})
