import { runs } from '#testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toMatch } from './query-match.ts'
import { toQuery, type Query } from './query.ts'

const NOW = Date.parse('2026-11-15T12:00:00.000Z')
const ask = (typed: string, timeZone = 'UTC'): Query => toQuery(typed, NOW, { timeZone })
const match = (typed: string): string | undefined => toMatch(ask(typed))
const date = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()

describe('words', () => {
  test('[SEA1] words, phrases, prefixes, alternatives and what must not be there', () => {
    expect(match('red blue')).toBe('"red" AND "blue"')
    expect(match('red OR blue green')).toBe('("red" OR "blue") AND "green"')
    expect(match('"red blue" gre*')).toBe('"red blue" AND "gre" *')
    expect(match('red -blue -"dark green"')).toBe('("red") NOT ("blue" OR "dark green")')
    expect(match('red AND blue NOT green')).toBe('("red" AND "blue") NOT "green"')
    expect(match('“red blue”')).toBe('"red blue"')
    expect(match('Ünïcode')).toBe('"unicode"')
    expect(match('(red OR blue) green')).toBe('("red" OR "blue") AND "green"')
    expect(ask('red OR blue "dark green" -x').notes).toEqual([])
  })

  test('[SEA2] [SEA3] names are searched in every spelling, paths and symbols as phrases', () => {
    expect(match('parseLine')).toBe('("parseline" OR "parse line")')
    expect(match('parse_line')).toBe('("parse line" OR "parseline")')
    expect(match('parse-li*')).toBe('("parse li" * OR "parseli" *)')
    expect(match('src/store/query.ts')).toBe('"src store query ts"')
    expect(match('--dry-run')).toBe('("dry run" OR "dryrun")')
    expect(match('Foo::bar')).toBe('"foo bar"')
    expect(match('#123')).toBe('"123"')
  })

  test('[SEA5] what is broken is searched as words, and a note says so', () => {
    const cases: readonly (readonly [string, string | undefined])[] = [
      ['red "blue green', '"red" AND "blue" AND "green"'],
      ['"', undefined],
      ['OR', '"or"'],
      ['OR red', '"red"'],
      ['red OR', '"red"'],
      ['red OR -blue', '("red") NOT "blue"'],
      ['red - blue', '"red" AND "blue"'],
      ['red && blue', '"red" AND "blue"'],
      ['role:robot red', '"role robot" AND "red"'],
      ['after:someday', '"after someday"'],
      ['on:2026-02-30', '"on 2026 02 30"'],
      ['has:wings', '"has wings"'],
      ['agent:', '"agent"'],
      ['-red', undefined],
      ['***', undefined],
      ['word '.repeat(100), Array.from({ length: 64 }, () => '"word"').join(' AND ')],
    ]
    for (const [typed, expression] of cases) {
      expect({ typed, expression: match(typed) }).toEqual({ typed, expression })
      expect({ typed, notes: ask(typed).notes.length }).toEqual({ typed, notes: 1 })
    }
    expect(ask('x'.repeat(5000)).notes).toEqual(['Only the first 2000 characters were searched for.'])
    expect(ask('').isEmpty).toBe(true)
    expect(ask('  \n ').notes).toEqual([])
  })

  test('[SEA5] [SEA6] whatever is typed gives a query, in which only letters and digits stand between quotes', () => {
    const bit = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom(
        '"',
        '-',
        '*',
        ' OR ',
        'agent:',
        'on:',
        'a',
        ' ',
        'session:"',
        ')',
        'NEAR',
        '^',
        '+',
        '\u0000',
      ),
    )
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 20 }), (bits) => {
        const expression = toMatch(ask(bits.join(''))) ?? ''
        for (const [n, piece] of expression.split('"').entries()) {
          if (n % 2 === 0) expect(piece).toMatch(/^[()* ]*(?:AND|OR|NOT)?[(* ]*$|^[) *]+ (?:AND|OR|NOT) \(*$/)
          else expect(piece).toMatch(/^[^"()*:^+{}-]+$/)
        }
      }),
      runs(1000),
    )
  })
})

describe('facets', () => {
  test('[SEA4] facets say what a hit must be', () => {
    const { facets, clauses, notes } = ask(
      'agent:Claude workdir:"/a b/c/" session:AB12 role:user -speaker:tool tool:Bash tool:mcp__* kind:reply -has:error in:said in:thought',
    )
    expect({ clauses, notes }).toEqual({ clauses: [], notes: [] })
    expect(facets).toEqual({
      agents: { any: ['claude'], none: [] },
      workdirs: { any: ['/a b/c'], none: [] },
      sessions: { any: ['ab12'], none: [] },
      speakers: { any: ['human', 'program'], none: ['tool'] },
      tools: { any: ['bash', 'mcp__*'], none: [] },
      kinds: { any: ['reply'], none: [] },
      tiers: { any: ['said', 'thought'], none: [] },
      isError: false,
    })
    expect(ask('has:error').facets.isError).toBe(true)
    expect(ask('has:error').isEmpty).toBe(false)
    expect(ask('has:directive').facets.hasDirective).toBe(true)
    expect(ask('agent:claude OR agent:codex').facets.agents.any).toEqual(['claude', 'codex'])
    expect(ask('agent:claude OR agent:codex').notes).toEqual([])
  })

  test('[SEA4] what only looks like a facet is words', () => {
    expect(match('http://localhost:80 foo:bar')).toBe('"http localhost 80" AND "foo bar"')
    expect(match('"agent:claude"')).toBe('"agent claude"')
  })

  test('[SEA10] days are those of the time zone, and include what they name', () => {
    const span = (typed: string, zone?: string): readonly (string | undefined)[] => {
      const { from, to } = ask(typed, zone).facets
      return [date(from), date(to)]
    }
    expect(span('after:2026-11-01')).toEqual(['2026-11-01T00:00:00.000Z', undefined])
    expect(span('before:2026-11-01')).toEqual([undefined, '2026-11-01T00:00:00.000Z'])
    expect(span('on:2026-11-01')).toEqual(['2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z'])
    expect(span('-before:2026-11-01 -after:2026-11-03')).toEqual([
      '2026-11-01T00:00:00.000Z',
      '2026-11-03T00:00:00.000Z',
    ])
    expect(span('after:7d before:12h')).toEqual(['2026-11-08T12:00:00.000Z', '2026-11-15T00:00:00.000Z'])
    expect(span('on:today')).toEqual(['2026-11-15T00:00:00.000Z', '2026-11-16T00:00:00.000Z'])
    expect(span('on:yesterday', 'Asia/Tokyo')).toEqual([
      '2026-11-13T15:00:00.000Z',
      '2026-11-14T15:00:00.000Z',
    ])
    expect(span('on:2026-03-29', 'Europe/Berlin')).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
    expect(span('on:2026-10-25', 'Europe/Berlin')).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
    expect(ask('on:today', 'Mars/Olympus').notes).toHaveLength(1)
  })
})
