import { toQuery, type Store } from '#store'
import type { Suite } from './contract-suite.ts'
import type { WithStore } from './store-contract.ts'
import { advance, entryRow, fileRow, findAll, findPlaces, STORE_NOW } from './store-rows.ts'

/** The part of the contract that is about finding. */
export function describeStoreSearch(suite: Suite, withStore: WithStore): void {
  describeOrder(suite, withStore)
  describeFacets(suite, withStore)
  describeTerms(suite, withStore)
}

function describeOrder({ expect, test }: Suite, withStore: WithStore): void {
  test('[STO8] what was said comes before what was thought, and that before tools; then relevance, then age', () =>
    withStore(async (store) => {
      const filler = 'and many other words that make this a long text '.repeat(20)
      await store.apply([
        advance('a', [
          entryRow({ said: `${filler} lemon` }, { offset: 1 }),
          entryRow({ said: 'lemon lemon' }, { offset: 2 }),
          entryRow({ thought: 'lemon' }, { offset: 3 }),
          entryRow({ tool: 'lemon' }, { offset: 4 }),
          entryRow({ said: 'a lemon here' }, { offset: 5 }),
          entryRow({ said: 'a lemon here' }, { offset: 6 }),
          entryRow({ said: 'lemon', thought: 'lemon' }, { offset: 7 }),
        ]),
      ])
      const hits = await findAll(store, 'lemon')
      expect(hits.map(({ where }) => where)).toEqual([...Array(5).fill('said'), 'thought', 'thought', 'tool'])
      const said = hits.filter(({ where }) => where === 'said').map(({ offset }) => offset)
      expect(said.indexOf(2)).toBeLessThan(said.indexOf(1))
      expect(said.indexOf(6)).toBe(said.indexOf(5) - 1)
      expect(said.at(-1)).toBe(1)
    }))

  test('[STO9] pages of any size give every hit once, in one order, and know how many there are', () =>
    withStore(async (store) => {
      const texts = [
        { said: 'lime' },
        { thought: 'lime' },
        { tool: 'lime' },
        { said: 'lime', tool: 'lime lime' },
      ]
      const rows = Array.from({ length: 40 }, (_, n) => entryRow(texts[n % 4] ?? '', { offset: n }))
      await store.apply([advance('a', rows)])
      for (const q of [
        'lime',
        'lime in:tool',
        'lime agent:claude',
        'agent:claude',
        'lime in:thought in:said',
      ]) {
        const whole = await findAll(store, q)
        const { total } = await store.search({ query: toQuery(q, STORE_NOW), limit: 3 })
        expect(total).toEqual({ count: whole.length, exact: true })
        for (const limit of [1, 3, 7, 10, 39]) expect(await findAll(store, q, limit)).toEqual(whole)
      }
      expect(await findAll(store, 'lime')).toHaveLength(50)
      expect(await findAll(store, 'agent:claude')).toHaveLength(40)
    }))

  test('[STO9] what is no cursor is refused with a hint', () =>
    withStore(async (store) => {
      const query = toQuery('lime', STORE_NOW)
      for (const cursor of ['', 'x', '9.1', '0.-1', '0.1;DROP', `0.${'9'.repeat(40)}`]) {
        await expect(store.search({ query, limit: 1, cursor })).rejects.toMatchObject({
          code: 'request-invalid',
        })
      }
    }))

  test('[STO10] news come oldest first and each once, a few at a time until there are none', () =>
    withStore(async (store) => {
      const newest = await store.newest()
      const both = { ...entryRow('lime'), text: { said: 'lime', tool: 'lime' } }
      for (const path of ['a', 'b', 'c']) await store.apply([advance(path, [both, entryRow('lime'), both])])
      for (const q of ['lime', 'speaker:human lime', 'agent:claude']) {
        const told: number[] = []
        for (let newerThan = newest; ;) {
          const { hits } = await store.search({ query: toQuery(q, STORE_NOW), limit: 2, newerThan })
          const last = hits.at(-1)
          if (last === undefined) break
          told.push(...hits.map(({ number }) => number))
          newerThan = last.number
        }
        expect(told).toEqual(Array.from({ length: 9 }, (_, n) => newest + 1 + n))
      }
    }))

  test('[STO10] who waits for news is given what is numbered higher, and nothing else', () =>
    withStore(async (store) => {
      await store.apply([advance('a', [entryRow('lime')])])
      const newerThan = await store.newest()
      await store.apply([advance('b', [entryRow('lime')], { as: 'past' })])
      await store.apply([advance('c', [entryRow('lime'), entryRow('lemon')])])
      for (const q of ['lime', 'lime agent:claude', 'agent:claude']) {
        const { hits } = await store.search({ query: toQuery(q, STORE_NOW), limit: 10, newerThan })
        expect(hits.map(({ path }) => path)).toEqual(q.includes('lime') ? ['c'] : ['c', 'c'])
        expect(hits.every(({ number }) => number > newerThan)).toBe(true)
      }
    }))
}

const day = (n: number): number => Date.UTC(2026, 10, n, 12)
const offsetsOf = (hits: readonly { readonly offset: number }[]): readonly number[] =>
  hits.map(({ offset }) => offset).toSorted((a, b) => a - b)

/** Entries that differ in one thing each. Offsets name them. */
async function fillFacets(store: Store): Promise<void> {
  await store.apply([
    advance(fileRow('a', { agent: 'claude', session: 'aaaa-1', workdirs: ['/work/shop', '/work/api'] }), [
      entryRow('pear', { offset: 1, at: day(10) }),
      entryRow('pear', { offset: 2, at: day(12), kind: 'reply', speaker: 'agent', hasDirective: true }),
      entryRow({ tool: 'pear' }, { offset: 3, at: day(14), kind: 'result', speaker: 'tool', tool: 'Bash' }),
      entryRow(
        { tool: 'pear' },
        { offset: 4, at: undefined, kind: 'result', speaker: 'tool', tool: 'mcp__git__log', isError: true },
      ),
    ]),
    advance(fileRow('b', { agent: 'codex', session: 'bbbb-2', workdirs: ['/work/blog'] }), [
      entryRow('pear', { offset: 5, at: day(16), speaker: 'program' }),
      entryRow({ thought: 'pear' }, { offset: 6, at: day(18), kind: 'reply', speaker: 'agent' }),
      entryRow('pear', { offset: 7, at: day(18), kind: 'notice', speaker: 'system', isError: true }),
    ]),
    advance(fileRow('c', { session: 'cccc-3', workdirs: [] }), [
      entryRow('plum', { offset: 8, at: day(18) }),
    ]),
  ])
}

const FACETS: readonly (readonly [q: string, offsets: readonly number[]])[] = [
  ['agent:claude', [1, 2, 3, 4]],
  ['-agent:claude', [5, 6, 7]],
  ['agent:CODEX', [5, 6, 7]],
  ['agent:gemini', []],
  ['workdir:/work/shop', [1, 2, 3, 4]],
  ['workdir:/work/sho', []],
  ['workdir:blog', [5, 6, 7]],
  ['-workdir:/work/api', [5, 6, 7]],
  ['session:aaaa', [1, 2, 3, 4]],
  ['session:aaaa session:bbbb-2', [1, 2, 3, 4, 5, 6, 7]],
  ['session:zzzz', []],
  ['speaker:human', [1]],
  ['speaker:agent', [2, 6]],
  ['role:user', [1, 5]],
  ['role:assistant', [2, 6]],
  ['-speaker:tool', [1, 2, 5, 6, 7]],
  ['tool:bash', [3]],
  ['tool:mcp__*', [4]],
  ['tool:nothing', []],
  ['-tool:bash', [1, 2, 4, 5, 6, 7]],
  ['kind:result', [3, 4]],
  ['kind:result kind:notice', [3, 4, 7]],
  ['-kind:result', [1, 2, 5, 6, 7]],
  ['after:2026-11-14', [3, 5, 6, 7]],
  ['before:2026-11-14', [1, 2]],
  ['on:2026-11-16', [5]],
  ['after:2026-11-12 before:2026-11-16', [2, 3]],
  ['has:error', [4, 7]],
  ['has:directive', [2]],
  ['-has:directive', [1, 3, 4, 5, 6, 7]],
  ['-has:error', [1, 2, 3, 5, 6]],
  ['in:said', [1, 2, 5, 7]],
  ['in:thought', [6]],
  ['-in:tool', [1, 2, 5, 6, 7]],
  ['in:tool has:error agent:claude tool:mcp__git__log', [4]],
  ['speaker:agent agent:codex workdir:/work/blog on:2026-11-18 in:thought', [6]],
  ['kind:reply has:error', []],
]

function describeFacets({ expect, test }: Suite, withStore: WithStore): void {
  test('[STO11] every facet narrows a search down, one by one and together, with words and without', () =>
    withStore(async (store) => {
      await fillFacets(store)
      for (const [q, offsets] of FACETS) {
        const hits = await findAll(store, `pear ${q}`)
        expect([q, offsetsOf(hits)]).toEqual([q, offsets])
        const alone = (await findAll(store, q)).filter(({ path }) => path !== 'c')
        expect([q, offsetsOf(alone)]).toEqual([q, offsets])
        const { total } = await store.search({ query: toQuery(`pear ${q}`, STORE_NOW), limit: 1 })
        expect([q, total.count]).toEqual([q, offsets.length])
      }
    }))

  test('[STO11] a hit says where it stands', () =>
    withStore(async (store) => {
      await fillFacets(store)
      const [hit] = await findAll(store, 'pear tool:mcp__git__log')
      expect(hit).toMatchObject({
        path: 'a',
        agent: 'claude',
        session: 'aaaa-1',
        kind: 'result',
        offset: 4,
        length: 10,
        tool: 'mcp__git__log',
        isError: true,
        where: 'tool',
      })
      expect(hit?.at).toBeUndefined()
    }))
}

function describeTerms({ expect, test }: Suite, withStore: WithStore): void {
  test('[STO12] words, phrases, prefixes, what must not be there, and names in any spelling', () =>
    withStore(async (store) => {
      const texts = [
        'call parseLine twice',
        'call parse_line twice',
        'call parse-line at src/store/parse.ts:12',
        'a line to parse',
        'Überraschung, naïve café',
        'v1.2.3 of @scope/name',
      ]
      await store.apply([
        advance(
          'a',
          texts.map((text, offset) => entryRow(text, { offset })),
        ),
      ])
      const found = async (q: string): Promise<readonly number[]> => offsetsOf(await findAll(store, q))
      expect(await found('parseLine')).toEqual([0, 1, 2])
      expect(await found('parse_line')).toEqual([0, 1, 2])
      expect(await found('line')).toEqual([0, 1, 2, 3])
      expect(await found('"parse line"')).toEqual([0, 1, 2])
      expect(await found('"line to parse"')).toEqual([3])
      expect(await found('"parse to line"')).toEqual([])
      expect(await found('twi*')).toEqual([0, 1])
      expect(await found('parse -twice')).toEqual([2, 3])
      expect(await found('cafe OR scope')).toEqual([4, 5])
      expect(await found('uberraschung naive')).toEqual([4])
      expect(await found('src/store/parse.ts')).toEqual([2])
      expect(await found('@scope/name v1.2.3')).toEqual([5])
      for (const odd of [
        '"',
        '*',
        'NEAR(a b)',
        'a:b',
        "'; DROP TABLE entry; --",
        '(((',
        '^',
        '{x}:y',
        '-',
        'OR',
      ])
        await found(odd)
      expect(await findPlaces(store, 'line')).toHaveLength(4)
    }))
}
