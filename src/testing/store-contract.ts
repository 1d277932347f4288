import type { Store } from '#store'
import type { Suite } from './contract-suite.ts'
import { describeStoreModel } from './store-contract-model.ts'
import { describeStoreSearch } from './store-contract-search.ts'
import { advance, billRow, entryRow, fileRow, findAll, findPlaces, type Advance } from './store-rows.ts'
import { openTempDir } from './temp-dir.ts'

/** Opens the store of a place. A place is a folder of its own; opened again, it is the same store. */
export type OpenStore = (place: string) => Promise<Store>

/** What every store does, wherever it keeps its rows. Each implementation runs this suite. */
export function describeStore(
  suite: Suite,
  options: { readonly name: string; readonly open: OpenStore; readonly runs?: number },
): void {
  const { describe } = suite
  const { name, open } = options

  /** A store of its own for one test. */
  const withStore = async (use: (store: Store, place: string) => Promise<void>): Promise<void> => {
    const dir = await openTempDir()
    const store = await open(dir.path)
    try {
      await use(store, dir.path)
    } finally {
      await store.close()
      await dir.remove()
    }
  }

  describe(name, () => {
    describeWriting(suite, withStore)
    describeKeeping(suite, open)
    describeOddText(suite, withStore)
    describeStoreSearch(suite, withStore)
    describeStoreModel(suite, withStore, options.runs)
  })
}

/** Gives a test a store that is empty and its own. */
export type WithStore = (use: (store: Store, place: string) => Promise<void>) => Promise<void>

function describeWriting({ expect, test }: Suite, withStore: WithStore): void {
  test('[STO1] changes are applied all together or not at all', () =>
    withStore(async (store) => {
      await store.apply([advance('a', [entryRow('first')], { bills: [billRow('m1', { output: 1 })] })])
      const before = await snapshot(store)
      const torn = Object.defineProperty({ ...entryRow('second') }, 'text', {
        get() {
          throw new Error('torn in the middle')
        },
      })
      await expect(
        store.apply([
          { kind: 'move', from: 'a', to: 'b' },
          advance('c', [entryRow('third')]),
          advance('d', [entryRow('fourth', { tool: 'Bash' }), torn], { bills: [billRow('m2')] }),
        ]),
      ).rejects.toThrow('torn in the middle')
      expect(await snapshot(store)).toEqual(before)
      // Names that were first heard of in what was undone are not taken for known.
      await store.apply([advance('d', [entryRow('fourth', { tool: 'Bash' })])])
      expect((await findAll(store, 'fourth tool:bash')).map(({ tool }) => tool)).toEqual(['Bash'])
      expect(await findPlaces(store, 'third')).toEqual([])
    }))

  test('[STO2] a file moves on: what it had stays, what it says of itself is replaced', () =>
    withStore(async (store) => {
      await store.apply([advance(fileRow('a', { offset: 10, fold: '1' }), [entryRow('one', { offset: 0 })])])
      const file = fileRow('a', { offset: 20, fold: '2', workdirs: ['/x', '/y'], subagent: 'sub' })
      await store.apply([advance(file, [entryRow('one', { offset: 10 })])])
      expect(await store.files()).toEqual([file])
      expect((await findPlaces(store, 'one')).toSorted()).toEqual(['a:0', 'a:10'])
    }))

  test('[STO2] entries that another one stands for are not found, and the others are', () =>
    withStore(async (store) => {
      const [one, two] = [
        entryRow('one', { offset: 0 }),
        entryRow({ said: 'one', tool: 'two' }, { offset: 10 }),
      ]
      await store.apply([advance('a', [one, two]), advance('b', [one, two])])
      await store.apply([advance('a', [entryRow('one', { offset: 20 })], { replaced: [10, 30] })])
      expect((await findPlaces(store, 'one')).toSorted()).toEqual(['a:0', 'a:20', 'b:0', 'b:10'])
      expect(await findPlaces(store, 'two')).toEqual(['b:10'])
      expect(await store.verify()).toEqual([])
    }))

  test('[STO2] anew, forget and move make void what was under the name', () =>
    withStore(async (store) => {
      const bills = [billRow('m1', { output: 1 })]
      await store.apply([
        advance('a', [entryRow('one')], { bills }),
        advance('b', [entryRow('one'), entryRow({ thought: 'one', tool: 'one' })], { bills }),
        advance('c', [entryRow('one')], { bills }),
      ])
      await store.apply([advance('a', [entryRow('two', { offset: 5 })], { anew: true })])
      expect(await findPlaces(store, 'two')).toEqual(['a:5'])
      expect((await findPlaces(store, 'one')).toSorted()).toEqual(['b:0', 'b:0', 'b:0', 'c:0'])
      expect(billPaths(await store.bills())).toEqual(['b', 'c'])
      await store.apply([{ kind: 'forget', path: 'b' }])
      expect(await findPlaces(store, 'one')).toEqual(['c:0'])
      await store.apply([{ kind: 'move', from: 'c', to: 'a' }])
      expect(await findPlaces(store, 'one')).toEqual(['a:0'])
      expect(await findPlaces(store, 'two')).toEqual([])
      expect((await store.files()).map(({ path }) => path)).toEqual(['a'])
      expect(billPaths(await store.bills())).toEqual(['a'])
      await store.apply([
        { kind: 'forget', path: 'nobody' },
        { kind: 'move', from: 'nobody', to: 'nowhere' },
      ])
      expect(await findPlaces(store, 'one')).toEqual(['a:0'])
      expect(await store.verify()).toEqual([])
    }))

  test('[STO3] what a build finds is older than all there is, what happens is younger', () =>
    withStore(async (store) => {
      const start = await store.newest()
      await store.apply([past('newest'), past('older')])
      expect(await store.newest()).toBe(start)
      const { newest } = await store.apply([
        advance('news', [entryRow('w')]),
        advance('more', [entryRow('w')]),
      ])
      await store.apply([past('oldest')])
      expect(newest).toBe(start + 2)
      expect(await store.newest()).toBe(newest)
      const order = ['more:0', 'news:0', 'newest:9', 'newest:0', 'older:9', 'older:0', 'oldest:9', 'oldest:0']
      expect(await findPlaces(store, 'w')).toEqual(order)
      expect(await findPlaces(store, 'agent:claude')).toEqual(order)
    }))

  test('[STO4] a change costs what it changes: rows are counted', () =>
    withStore(async (store) => {
      const many = Array.from({ length: 500 }, (_, n) => entryRow(`w${n}`, { offset: n }))
      await store.apply([advance('a', many)])
      const one = await store.apply([advance('a', [entryRow('x')], { bills: [billRow('m')] })])
      expect(one.rows).toBeLessThanOrEqual(4)
      expect((await store.apply([{ kind: 'move', from: 'a', to: 'b' }])).rows).toBeLessThanOrEqual(1)
      expect((await store.apply([])).rows).toBe(0)
    }))

  test('[STO5] a message costs once per session and file, with its last figures', () =>
    withStore(async (store) => {
      const main = fileRow('main', { session: 's' })
      const sub = fileRow('sub', { session: 's', subagent: 'x' })
      const first = billRow('m1', { input: 1, output: 1 })
      const last = billRow(
        'm1',
        { input: 1, output: 7 },
        { model: undefined, at: undefined, workdir: undefined },
      )
      await store.apply([advance(main, [], { bills: [first] })])
      await store.apply([advance(main, [], { bills: [last, billRow('m2', { output: 2 })] })])
      await store.apply([
        advance(sub, [], {
          bills: [
            last,
            billRow('m3', { cacheRead: 5, cacheCreation: 9, cacheCreation5m: 4, cacheCreation1h: 5 }),
          ],
        }),
        advance(fileRow('other', { session: 't' }), [], { bills: [last] }),
      ])
      const rows = [...(await store.bills())].toSorted((a, b) => (a.path + a.key < b.path + b.key ? -1 : 1))
      expect(rows.map(({ path, key, session }) => [path, key, session])).toEqual([
        ['main', 'm1', 's'],
        ['main', 'm2', 's'],
        ['other', 'm1', 't'],
        ['sub', 'm1', 's'],
        ['sub', 'm3', 's'],
      ])
      expect(rows[0]).toMatchObject(last)
      expect(rows[4]).toMatchObject({ model: 'claude-opus-5-5', createdAt: sub.createdAt })
      const totals = new Map((await store.totals()).map((total) => [total.session, total]))
      expect(totals.get('s')).toEqual({
        session: 's',
        replies: 2,
        usage: {
          input: 1,
          output: 9,
          cacheRead: 5,
          cacheCreation: 9,
          cacheCreation5m: 4,
          cacheCreation1h: 5,
        },
      })
      expect(await store.totals(['t', 'nobody'])).toEqual([totals.get('t')])
    }))
}

function describeKeeping({ expect, test }: Suite, open: OpenStore): void {
  test('[STO6] closed and opened again it is the same store, by name and content', async () => {
    const dir = await openTempDir()
    const store = await open(dir.path)
    await store.apply([
      advance(fileRow('a', { offset: 3, workdirs: [], subagent: 'x' }), [entryRow('one', { tool: 'Bash' })]),
      advance('b', [entryRow('one')], { bills: [billRow('m')], as: 'past' }),
    ])
    const before = await snapshot(store)
    expect(await store.size()).toBeGreaterThan(0)
    await store.close()
    const again = await open(dir.path)
    expect(again.epoch).toBe(store.epoch)
    expect(await snapshot(again)).toEqual(before)
    expect(await again.verify()).toEqual([])
    for (let round = 0; (await again.tidy()) && round < 1000; round++);
    expect(await again.tidy()).toBe(false)
    expect(await snapshot(again)).toEqual(before)
    await again.close()
    await dir.remove()
  })

  test('[STO6] two stores have two names', async () => {
    const [one, two] = [await openTempDir(), await openTempDir()]
    const [a, b] = [await open(one.path), await open(two.path)]
    expect(a.epoch).not.toBe(b.epoch)
    await Promise.all([a.close(), b.close()])
    await Promise.all([one.remove(), two.remove()])
  })
}

function describeOddText({ expect, test }: Suite, withStore: WithStore): void {
  test('[STO7] text that no file system likes goes in and is found: half characters, zeros, 5 MB', () =>
    withStore(async (store) => {
      const long = `${'lorem ipsum '.repeat(430_000)}needle`
      const odd = [
        'half \uD83D end',
        'zero \u0000 end',
        'both \uDC00\u0000\uD800 end',
        'ﬁn İstanbul ñandú end',
      ]
      await store.apply([
        advance(fileRow('odd', { workdirs: ['/w\u0000\uD800'], fold: '"\uD800"' }), [
          ...odd.map((text, offset) => entryRow(text, { offset, tool: 'To\uD800ol' })),
          entryRow({ tool: long }, { offset: 100 }),
        ]),
      ])
      expect(await findPlaces(store, 'end')).toHaveLength(odd.length)
      expect(await findPlaces(store, 'half')).toEqual(['odd:0'])
      expect(await findPlaces(store, 'zero end')).toEqual(['odd:1'])
      expect(await findPlaces(store, 'istanbul nandu')).toEqual(['odd:3'])
      expect(await findPlaces(store, 'needle')).toEqual(['odd:100'])
      expect((await store.files()).map(({ path, offset }) => [path, offset])).toEqual([['odd', 0]])
      await store.apply([{ kind: 'forget', path: 'odd' }])
      expect(await findPlaces(store, 'end OR needle')).toEqual([])
      expect(await store.verify()).toEqual([])
    }))
}

const past = (path: string): Advance =>
  advance(path, [entryRow('w'), entryRow('w', { offset: 9 })], { as: 'past' })

/** Everything that can be asked of a store. */
async function snapshot(store: Store): Promise<object> {
  return {
    newest: await store.newest(),
    files: (await store.files()).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    entries: await findAll(store, 'agent:claude'),
    bills: [...(await store.bills())],
    totals: await store.totals(),
  }
}

function billPaths(bills: Iterable<{ readonly path: string }>): readonly string[] {
  return [...bills].map(({ path }) => path).toSorted()
}
