import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing'
import { learning } from './fixtures/learning.ts'
import {
  disagreementOf,
  isParaphrase,
  similarityOf,
  toContradictionGroups,
  toPromotion,
} from './similarity.ts'
import { toStem } from './stem.ts'
import { toStems } from './words.ts'

const NOW = Date.UTC(2026, 0, 1)
const promote = (content: string, ...known: readonly string[]) =>
  toPromotion(
    { type: 'learning', category: 'knowledge', content },
    known.map((one) => learning(one)),
    NOW,
  )

describe('words', () => {
  test('[DOC15] are told by their stems, identifiers whole and in parts, and those of every text are left out', () => {
    const words = 'caresses ponies agreed plastered motoring conflated hopping relational digitizer vileli'
    expect(words.split(' ').map(toStem)).toEqual(
      'caress poni agre plaster motor conflat hop relat digit vile'.split(' '),
    )
    expect(toStems('The readLine of parse_json in src/base')).toEqual([
      'readlin',
      'read',
      'line',
      'parsejson',
      'pars',
      'json',
      'src',
      'base',
    ])
    expect(toStems('Über café')).toEqual(['uber', 'cafe'])
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const stem of toStems(text)) expect(stem).not.toBe('')
      }),
      runs(200),
    )
  })
})

describe('[DOC16] what is promoted', () => {
  test.each([
    ['Run the build before the tests', 'Run  the build\nbefore the tests'],
    ['Ports below 1024 need root', 'ports below 1024 need root!'],
    ['The server doesn’t read the file twice.', "The server doesn't read the file twice"],
  ])('confirms the same statement: %s', (known, said) => {
    expect(promote(said, known)).toMatchObject({ kind: 'confirms', near: { id: `learning:${known}` } })
  })

  test.each([
    ['Prefer tabs over spaces', 'Prefer spaces over tabs'],
    ['Use pnpm, not npm', 'Use npm, not pnpm'],
    ['Deploy from main to prod', 'Deploy from prod to main'],
    ['The replica is db1 and the primary is db2', 'The primary is db1 and the replica is db2'],
    ['Print hello world', 'Print hello worlds'],
    ['Call Reader with the path', 'Call reader with the path'],
    ['Compare with == and not with =', 'Compare with = and not with =='],
    ['The tests need a build first', 'The test needs building first'],
    ['Ada wants tabs in every file', 'It seems that Ada wants tabs in every file'],
    [
      'The billing tests want TZ=UTC in the billing container.',
      'The shipping tests want TZ=UTC in the shipping container.',
    ],
    ['The claude tests want TZ=UTC LEARNED-claude.', 'The codex tests want TZ=UTC LEARNED-codex.'],
  ])('never swallows the reverse of a statement, or one about another thing: %s', (known, said) => {
    for (const [one, other] of [
      [known, said],
      [said, known],
    ] as const) {
      const promotion = promote(other, one)
      expect(promotion.kind).toBe('ask')
      expect(promotion.kind === 'ask' ? promotion.near[0]?.differs : []).not.toEqual([])
    }
  })

  test('never merges what was said of two folders', () => {
    const draft = { type: 'learning', category: 'knowledge', content: 'The tests need TZ=UTC' } as const
    const inShop = learning(draft.content, { workdir: '/work/shop' })
    expect(toPromotion({ ...draft, workdir: '/work/blog' }, [inShop], NOW)).toEqual({ kind: 'new' })
    expect(toPromotion(draft, [inShop], NOW)).toMatchObject({ kind: 'ask', near: [{ differs: ['folder'] }] })
    expect(toPromotion({ ...draft, workdir: '/work/shop' }, [inShop], NOW).kind).toBe('confirms')
    const everywhere = learning(draft.content)
    expect(toPromotion({ ...draft, workdir: '/work/blog' }, [everywhere], NOW).kind).toBe('confirms')
  })

  test('confirms only what has the same words in the same order, whatever is swapped or replaced', () => {
    const words = fc.array(
      fc.constantFrom<string>(
        'Billing',
        'orders',
        'calls',
        'reads',
        'from',
        'to',
        'the',
        'db',
        'cache',
        'over',
        'test',
      ),
      { minLength: 2, maxLength: 12 },
    )
    fc.assert(
      fc.property(words, fc.nat(), fc.nat(), (list, m, n) => {
        const [i, j] = [m % list.length, n % list.length]
        const swapped = list.with(i, list[j] ?? '').with(j, list[i] ?? '')
        const promotion = promote(swapped.join(' '), list.join(' '))
        const isSame = swapped.every((word, at) =>
          at === 0 ? word.toLowerCase() === list[0]?.toLowerCase() : word === list[at],
        )
        expect(promotion.kind === 'confirms').toBe(isSame)
      }),
      runs(500),
    )
  })

  test.each([
    ['numbers', 'The timeout of the host is 15 minutes', 'The timeout of the host is 30 minutes'],
    ['numbers', 'Node 20.19 is the oldest version that works', 'Node 22.1 is the oldest version that works'],
    ['negations', 'The daemon writes to the transcript', 'The daemon never writes to the transcript'],
    ['negations', 'Tests may use the network here', 'Tests may not use the network here'],
    [
      'identifiers',
      'Call `openJournal` before an append of lines',
      'Call `readJournal` before an append of lines',
    ],
    [
      'identifiers',
      'Settings live in src/app/config.ts of the package',
      'Settings live in src/cli/config.ts of the package',
    ],
    ['identifiers', 'The owner of the release branch is Ada', 'The owner of the release branch is Grace'],
    ['identifiers', 'Grace reviews every release of Ada', 'Ada reviews every release of Grace'],
    ['identifiers', '`web` builds before `cli` in a release', '`cli` builds before `web` in a release'],
    ['numbers', 'The range of ports goes from 10 to 20', 'The range of ports goes from 20 to 10'],
    ['negations', 'Hosts do not end, and sockets close', 'Hosts do not end, and sockets do not close'],
    ['opposites', 'Always squash commits on the main branch', 'Sometimes squash commits on the main branch'],
    [
      'opposites',
      'The migration runs before the server starts up',
      'The migration runs after the server starts up',
    ],
    [
      'words',
      'Install packages in this repository with pnpm',
      'Install packages in this repository with npm',
    ],
    ['order', 'Readers wait for writers', 'Writers wait for readers'],
  ])('is asked about when %s do not agree: %s', (part, known, said) => {
    const promotion = promote(said, known)
    expect(promotion).toMatchObject({ kind: 'ask', choices: ['update', 'keep-both', 'ignore'] })
    expect(promotion.kind === 'ask' ? promotion.near[0]?.differs : []).toContain(part)
  })

  test('is new when nothing is like it, when what is like it does not count, or is of another kind', () => {
    const text = 'Ports below 1024 need root'
    expect(promote(text, 'The journal is locked by a socket')).toEqual({ kind: 'new' })
    const draft = { type: 'learning', category: 'knowledge', content: text } as const
    const others = [
      learning(text, { retiredAt: '2025-01-01T00:00:00Z' }),
      learning(text, { quarantine: 'copied-from-tool' }),
      learning(text, { type: 'teaching' }),
      learning(text, { audience: { agents: ['codex'], workdirs: [] } }),
    ]
    expect(toPromotion(draft, others, NOW)).toEqual({ kind: 'new' })
    expect(toPromotion(draft, [learning(text, { category: 'identity' })], NOW)).toMatchObject({
      kind: 'ask',
      near: [{ differs: ['category'] }],
    })
  })

  test('confirms the one that agrees, though another that does not is nearer or as near', () => {
    const promotion = promote('The limit is 40 files', 'The limit is 50 files', 'The limit is 40 files')
    expect(promotion).toMatchObject({ kind: 'confirms', near: { id: 'learning:The limit is 40 files' } })
  })

  test('is compared the same both ways, and itself is itself', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('never', 'run', '`npm test`', 'before', '20', 'the', 'Ada', 'tests'))
        .map((words) => words.join(' ')),
    )
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(similarityOf(a, b)).toBe(similarityOf(b, a))
        expect(similarityOf(a, a)).toBe(1)
        expect(disagreementOf(a, a)).toEqual([])
        expect(disagreementOf(a, b)).toEqual(disagreementOf(b, a))
        expect(promote(a, a).kind).toBe('confirms')
      }),
      runs(200),
    )
  })

  test('never confirms what has another number, a "not" more, or another identifier', () => {
    const words = fc.array(
      fc.constantFrom<string>('server', 'opens', 'journal', 'twice', 'when', 'daemon', 'begins', 'folder'),
      {
        minLength: 6,
        maxLength: 14,
      },
    )
    const at = fc.nat()
    const edit = fc.constantFrom(
      ['10', '11'],
      ['', 'not'],
      ['', 'never'],
      ['`a.b`', '`a.c`'],
      ['src/a.ts', 'src/b.ts'],
    )
    fc.assert(
      fc.property(words, at, edit, (list, n, [one = '', other = '']) => {
        const place = n % list.length
        const [a, b] = [list.toSpliced(place, 0, one), list.toSpliced(place, 0, other)]
        expect(promote(a.join(' '), b.join(' ')).kind).not.toBe('confirms')
      }),
      runs(200),
    )
  })

  test('is decided in bounded time, whatever it is', () => {
    const long = [
      'a'.repeat(200_000),
      'aB'.repeat(100_000),
      '/a'.repeat(100_000),
      '1.'.repeat(100_000),
      '`'.repeat(200_000),
    ]
    const began = performance.now()
    for (const text of long) promote(text, `${text} `, 'other')
    expect(performance.now() - began).toBeLessThan(20_000)
  })
})

describe('[DOC16] what a person may want to merge', () => {
  test('adds words and replaces none', () => {
    expect(isParaphrase('Ada wants tabs in every file', 'It seems that Ada wants tabs in every file')).toBe(
      true,
    )
    expect(isParaphrase('The tests need a build first', 'The test needs building first')).toBe(true)
    const [one, other] = [
      'The billing tests want a billing database',
      'The shipping tests want a shipping database',
    ]
    expect(isParaphrase(one, other)).toBe(false)
    expect(isParaphrase('The limit is 40 files', 'The limit is 50 files')).toBe(false)
  })
})

describe('[DOC17] documents that contradict each other', () => {
  test('are never apart, and every document is in one group', () => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    const some = fc.tuple(...ids.map(() => fc.subarray([...ids, 'gone'])))
    fc.assert(
      fc.property(some, (edges) => {
        const documents = ids.map((id, n) => learning(id, { id, contradicts: edges[n] ?? [] }))
        const groups = toContradictionGroups(documents)
        expect(
          groups
            .flat()
            .map(({ id }) => id)
            .toSorted(),
        ).toEqual(ids)
        for (const { id, contradicts } of documents) {
          const group = groups.find((one) => one.some((other) => other.id === id)) ?? []
          for (const other of contradicts.filter((one) => one !== 'gone'))
            expect(group.map((one) => one.id)).toContain(other)
        }
      }),
      runs(100),
    )
  })

  test('are alone when they contradict nothing', () => {
    const [a, b, c] = [learning('a'), learning('b'), learning('c')]
    const tied = { ...c, contradicts: [a.id] }
    expect(toContradictionGroups([a, b, tied])).toEqual([[a, tied], [b]])
  })
})
