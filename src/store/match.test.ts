import { runs } from '#testing'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { identifierParts } from './identifier.ts'
import { createMatcher } from './match.ts'
import { toMatch } from './query-match.ts'
import { toQuery } from './query.ts'

const db = new Database(':memory:')
db.exec(
  `CREATE VIRTUAL TABLE entry USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2', contentless_delete=1)`,
)
const insert = db.prepare('INSERT INTO entry(rowid, text) VALUES (1, ?)')
const remove = db.prepare('DELETE FROM entry WHERE rowid = 1')
const find = db.prepare('SELECT rowid FROM entry WHERE entry MATCH ?')
afterAll(() => db.close())

function found(text: string, typed: string): { readonly index: boolean; readonly matcher: boolean } {
  const query = toQuery(typed, 0)
  const expression = toMatch(query)
  insert.run(`${text} ${identifierParts(text)}`)
  try {
    const index = expression === undefined ? query.clauses.length === 0 : find.all(expression).length === 1
    return { index, matcher: createMatcher(query).matches(text) }
  } finally {
    remove.run()
  }
}

const WORDS = [
  'parse',
  'line',
  'a',
  'b',
  'foo',
  'utf',
  '8',
  'Straße',
  'über',
  'CAFÉ',
  '中文',
  'x1',
  'ＡＢ',
  'ǅ',
  'é',
]
const NAMES = [
  'parseLine',
  'parse_line',
  'parse-line',
  'parse.line',
  'parseline',
  'HTMLParser',
  'utf8',
  'Foo::bar',
  'src/a/b.ts',
  'aB',
  'bA',
]
const spoken = fc.constantFrom(...WORDS, ...NAMES)
const gap = fc.constantFrom(' ', '  ', '\n', '_', '-', '.', '/', '::', '(', '"', "'", ' – ', '\u0301', '')
const anything = fc.string({ unit: 'binary', maxLength: 12 })
const text = fc
  .array(fc.tuple(fc.oneof({ weight: 9, arbitrary: spoken }, { weight: 1, arbitrary: anything }), gap), {
    maxLength: 14,
  })
  .map((parts) => parts.flat().join(''))
const item = fc.oneof(
  { weight: 6, arbitrary: spoken },
  { weight: 2, arbitrary: spoken.map((word) => `${word.slice(0, 3)}*`) },
  {
    weight: 2,
    arbitrary: fc.array(spoken, { minLength: 1, maxLength: 3 }).map((words) => `"${words.join(' ')}"`),
  },
  { weight: 2, arbitrary: spoken.map((word) => `-${word}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'OR',
      'AND',
      'NOT',
      '-',
      '"',
      '*',
      '(',
      ')',
      'NEAR',
      'NEAR(a b)',
      '^a',
      '{x}:a',
      '+',
    ),
  },
  { weight: 1, arbitrary: anything },
)
const typed = fc.array(item, { maxLength: 6 }).map((items) => items.join(' '))

describe('matching', () => {
  test('[SEA7] [SEA6] whatever the text and the query, the matcher says what an index says', () => {
    fc.assert(
      fc.property(text, typed, (said, asked) => {
        const { index, matcher } = found(said, asked)
        expect(matcher).toBe(index)
      }),
      runs(3000),
    )
  })

  test('[SEA7] repeated words do not confuse a phrase', () => {
    const few = fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 12 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(few, few, fc.constantFrom('', '*'), (said, asked, star) => {
        const { index, matcher } = found(said, `"${asked}"${star}`)
        expect(matcher).toBe(index)
      }),
      runs(2000),
    )
  })

  test('[SEA2] each spelling of a name finds all the others, and its parts find it', () => {
    const spellings = ['parseLine', 'parse_line', 'parse-line', 'parse.line', 'ParseLine', 'PARSE_LINE']
    for (const said of spellings) {
      for (const asked of [...spellings, 'parse line', '"parse line"', 'line', 'parseL*', 'parse_l*']) {
        expect({ said, asked, ...found(`call ${said}(x)`, asked) }).toEqual({
          said,
          asked,
          index: true,
          matcher: true,
        })
      }
    }
    expect(found('an HTMLParser', 'parser html')).toEqual({ index: true, matcher: true })
    expect(found('encoded as utf-8', 'utf8')).toEqual({ index: true, matcher: true })
    expect(found('encoded as utf8', 'UTF-8')).toEqual({ index: true, matcher: true })
    expect(found('on 2026-11-15', '20261115')).toEqual({ index: false, matcher: false })
  })

  test('[SEA3] paths and symbols match as people type them', () => {
    const said =
      'see src/store/query.ts:12, Foo::bar, foo.baz(), run it --dry-run for #123 as user@host or https://a.example/b?c=d'
    for (const asked of [
      'src/store/query.ts',
      'store/query.ts',
      'query.ts:12',
      'Foo::bar',
      'foo.baz()',
      '--dry-run',
      '#123',
      'user@host',
      'https://a.example/b?c=d',
      './src/store',
    ]) {
      expect({ asked, ...found(said, asked) }).toEqual({ asked, index: true, matcher: true })
    }
    for (const asked of ['src/query.ts', 'baz::Foo', 'host@user']) {
      expect({ asked, ...found(said, asked) }).toEqual({ asked, index: false, matcher: false })
    }
  })

  test('[SEA8] a hostile query on a hostile text takes time that grows with the text alone', () => {
    const said = 'aB '.repeat(100_000)
    for (const asked of [
      '"' + 'a '.repeat(990) + 'c"',
      'a* '.repeat(300),
      '"a'.repeat(600),
      '-"'.repeat(900),
      'aB-'.repeat(600),
      'OR '.repeat(600),
    ]) {
      const matcher = createMatcher(toQuery(asked, 0))
      const started = performance.now()
      matcher.matches(said)
      matcher.marks(said, 100)
      expect(performance.now() - started).toBeLessThan(2000)
    }
  })
})

describe('marks', () => {
  const marked = (said: string, asked: string): readonly string[] =>
    createMatcher(toQuery(asked, 0))
      .marks(said, 20)
      .map(([start, end]) => said.slice(start, end))

  test('[SEA9] marks are the words, phrases and parts of names that were searched for', () => {
    expect(marked('Über uns: parse the line', 'uber line')).toEqual(['Über', 'line'])
    expect(marked('a parse_line and parseLine', 'parseLine')).toEqual(['parse_line', 'parseLine'])
    expect(marked('readLineFast', 'line')).toEqual(['Line'])
    expect(marked('readLineFast', '"line fast"')).toEqual(['LineFast'])
    expect(marked('parsing parsers', 'pars*')).toEqual(['parsing', 'parsers'])
    expect(marked('one two three', 'one -four')).toEqual(['one'])
    expect(marked('one two three', '"two three" three')).toEqual(['two three'])
  })

  test('[SEA9] marks are in order, apart, inside the text, and there where the words themselves match', () => {
    fc.assert(
      fc.property(text, typed, (said, asked) => {
        const matcher = createMatcher(toQuery(asked, 0))
        let last = 0
        for (const [start, end] of matcher.marks(said, 50)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          last = end
        }
        expect(last).toBeLessThanOrEqual(said.length)
      }),
      runs(500),
    )
  })
})
