import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { ANSI_CLASSES, parseAnsi } from './ansi.ts'

const ESC = '\u001b'

/** Text full of what terminals obey, whole and torn. */
const output = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        ESC,
        `${ESC}[`,
        `${ESC}]0;title`,
        '\u0007',
        `${ESC}\\`,
        '\r',
        '\r\n',
        '\n',
        '\t',
        '\u009b31m',
        `${ESC}P`,
        `${ESC}(B`,
      ),
      fc
        .array(fc.oneof(fc.nat(300), fc.constantFrom(38, 48, 5, 2, 0)), { maxLength: 8 })
        .map((codes) => `${ESC}[${codes.join(';')}m`),
      fc.array(fc.nat(300), { maxLength: 8 }).map((codes) => `${ESC}[${codes.join(':')}m`),
      fc.tuple(fc.nat(99), fc.constantFrom('A', 'H', 'J', 'K', 'h')).map(([n, end]) => `${ESC}[${n}${end}`),
    ),
    { maxLength: 20 },
  )
  .map((pieces) => pieces.join(''))

test('[WEB20] whatever a program printed, only known classes and harmless characters come out', () => {
  fc.assert(
    fc.property(output, (text) => {
      for (const run of parseAnsi(text)) {
        for (const name of run.className.split(' ')) expect(['', ...ANSI_CLASSES]).toContain(name)
        // oxlint-disable-next-line no-control-regex
        expect(run.text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
      }
    }),
    runs(300),
  )
})

test('[WEB20] colours take no text away, and add none', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string(), fc.array(fc.nat(120), { maxLength: 4 })), { maxLength: 12 }),
      (pieces) => {
        const coloured = pieces.map(([text, codes]) => `${text}${ESC}[${codes.join(';')}m`).join('')
        const shown = parseAnsi(coloured)
        expect(shown.map((run) => run.text).join('')).toBe(pieces.map(([text]) => text).join(''))
      },
    ),
    runs(300),
  )
})

test('[WEB20] colours of 16, of 256 and of millions become the nearest of eight', () => {
  const classes = (codes: string): string | undefined => parseAnsi(`${ESC}[${codes}mx`)[0]?.className
  expect(classes('31')).toBe('ansi-red')
  expect(classes('1;92;44')).toBe('ansi-green ansi-on-blue ansi-bold')
  expect(classes('38;5;196')).toBe('ansi-red')
  expect(classes('38;5;244')).toBe('ansi-black')
  expect(classes('38;2;255;255;0')).toBe('ansi-yellow')
  expect(classes('38:2::0:200:0')).toBe('ansi-green')
  expect(classes('48;2;0;0;255;4')).toBe('ansi-on-blue ansi-underline')
  expect(classes('38;5;999')).toBe('')
  expect(classes('31;0')).toBe('')
})

test('[WEB20] titles, links and cursor movements are dropped, and the words of a link stay', () => {
  const text = `${ESC}]0;a title\u0007${ESC}[2J${ESC}]8;;https://example.org\u0007words${ESC}]8;;\u0007${ESC}[1A!`
  expect(parseAnsi(text)).toEqual([{ text: 'words!', className: '' }])
})

test('[WEB20] a hostile megabyte is read in a moment', () => {
  const hostile = [`${ESC}]`, `${ESC}[`, `${ESC}P`, `${ESC}[38;5`, ESC].map((piece) => piece.repeat(200_000))
  const start = performance.now()
  for (const text of hostile) parseAnsi(text)
  expect(performance.now() - start).toBeLessThan(10_000)
})
