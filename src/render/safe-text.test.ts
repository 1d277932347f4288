// oxlint-disable no-control-regex -- these tests look for control characters
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth, fitToWidth } from './display-width.ts'
import { safeLine, safeText } from './safe-text.ts'

/** Everything a terminal might obey, and everything that hides. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u2060\ufeff\u{e0000}-\u{e007f}]|\p{Cs}/u

const ESC = '\u001b'
const CORPUS = [
  `${ESC}[31mred${ESC}[0m`,
  `${ESC}[2J${ESC}[H`,
  `${ESC}[?1049h`,
  `${ESC}]0;title\u0007`,
  `${ESC}]8;;https://evil.example${ESC}\\click${ESC}]8;;${ESC}\\`,
  `${ESC}]52;c;cm0gLXJmIC8=\u0007`,
  `${ESC}]1337;File=inline=1:AAAA\u0007`,
  `${ESC}P+q544e${ESC}\\`,
  `${ESC}_Ga=T;AAAA${ESC}\\`,
  `${ESC}^privacy${ESC}\\`,
  `${ESC}c`,
  `${ESC}(0lqk`,
  `${ESC}#8`,
  `${ESC}[6n`,
  `${ESC}[${'9'.repeat(5000)}`,
  `${ESC}${ESC}[0m[31m`,
  `${ESC}]8;;a\u0007${ESC}[3${ESC}[31m1m`,
  '\u009b31mred\u009b0m',
  '\u009d52;c;AAAA\u009c',
  '\u0090q\u009c',
  'back\u0008\u0008\u0008space',
  'bell\u0007',
  'over\rwritten',
  'dos\r\nline\r\r\n',
  'nul\u0000byte',
  'del\u007f',
  'shift\u000e\u000f',
  'evil\u202egnp.exe',
  '\u2066isolated\u2069',
  'zero\u200bwidth',
  'tag\u{e0041}\u{e0042}',
  'soft\u00adhyphen',
  'bom\ufeff',
  'half \ud83d and \ude00',
  'vs\ufe01\u{e0101}',
]

test.each(CORPUS.map((payload) => [JSON.stringify(payload).slice(0, 60), payload]))(
  '[REND1] nothing in %s reaches the terminal as a control',
  (_title, payload) => {
    expect(safeText(payload)).not.toMatch(FORBIDDEN)
    expect(safeText(`before ${payload} after`)).toMatch(/^before [^]* after$/)
  },
)

test('[REND1] no text whatever gives a control character other than newline and tab', () => {
  const nasty = fc.constantFrom(
    ...CORPUS,
    '\n',
    '\t',
    ESC,
    '[',
    ']',
    ';',
    'm',
    '\\',
    '\u0007',
    '\u200d',
    '\ufe0f',
    '👩',
    'ا',
  )
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(nasty).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(texts, (text) => {
      expect(safeText(text)).not.toMatch(FORBIDDEN)
      expect(safeLine(text)).not.toMatch(/[\n\t]/)
      // What is safe stays as it is.
      expect(safeText(safeText(text))).toBe(safeText(text))
    }),
    { numRuns: 2000 },
  )
})

test('[REND1] is linear: a megabyte of openings takes no time', () => {
  const start = performance.now()
  for (const piece of [`${ESC}]8;`, `${ESC}[`, `${ESC}[0`, '\r', `${ESC}P`]) safeText(piece.repeat(300_000))
  expect(performance.now() - start).toBeLessThan(3000)
})

test('[REND2] direction overrides and invisible characters are shown as what they are', () => {
  expect(safeText('evil\u202egnp.exe')).toBe('evil<U+202E>gnp.exe')
  expect(safeText('a\u200bb\u{e0041}')).toBe('a<U+200B>b<U+E0041>')
  expect(safeText('a\u200db')).toBe('a<U+200D>b')
  expect(safeText(`${ESC}]52;c;AA\u0007`)).toBe('␛]52;c;AA␇')
})

test.each(['👨‍👩‍👧', '🧑🏽‍💻', '❤️‍🔥', '1️⃣', 'می‌خواهم', 'क्‍ष', 'naïve café', '漢字'])(
  '[REND2] the writing of %s is left alone',
  (text) => {
    expect(safeText(text)).toBe(text)
  },
)

test('[REND3] half characters become U+FFFD', () => {
  expect(safeText('a\ud83db\ude00')).toBe('a\ufffdb\ufffd')
})

test('[REND4] colours vanish, their text stays; every kind of line end is a line end', () => {
  expect(safeText(`${ESC}[1;31mFAIL${ESC}[0m test`)).toBe('FAIL test')
  expect(safeText(`${ESC}]8;;https://a.example${ESC}\\label${ESC}]8;;${ESC}\\`)).toBe('label')
  expect(safeText('10%\r50%\r\n100%\n')).toBe('10%\n50%\n100%\n')
})

test('[REND8] width counts columns, not characters', () => {
  expect(displayWidth('abc')).toBe(3)
  expect(displayWidth('漢字')).toBe(4)
  expect(displayWidth('👨‍👩‍👧')).toBe(2)
  expect(displayWidth('é')).toBe(1)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 40 }), (text, width) => {
      expect(displayWidth(fitToWidth(safeLine(text), width))).toBe(width)
    }),
  )
})
