import * as fc from 'fast-check'
import { createMatcher, entryMatches, fileMatches, toQuery } from '#store'
import type { BillRow, Change, EntryRow, IndexedFile, Store } from '#store'
import type { SearchTier } from '#wire'
import type { Suite } from './contract-suite.ts'
import { runs } from './runs.ts'
import type { WithStore } from './store-contract.ts'
import { advance, billRow, entryRow, fileRow, findAll, STORE_NOW } from './store-rows.ts'

interface Held {
  readonly file: IndexedFile
  readonly entries: readonly EntryRow[]
  readonly bills: ReadonlyMap<string, BillRow>
}

const TIERS: readonly SearchTier[] = ['said', 'thought', 'tool']
const PATHS = ['a', 'b', 'c', 'd']
const QUERIES = [
  'red',
  'red green',
  '"green blue"',
  'gre*',
  'red -blue',
  'parse_line OR blue',
  'agent:codex',
  'red tool:bash',
  'has:error in:tool',
  'blue kind:result -tool:bash',
]

/** A store against a map: whatever is applied, in whatever order, both say the same. */
export function describeStoreModel({ expect, test }: Suite, withStore: WithStore, times = 60): void {
  test('[STO1] [STO2] [STO5] [STO11] after any changes a store says what a plain list of rows says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(batches(), { minLength: 1, maxLength: 12 }), (all) =>
        withStore(async (store) => {
          const held = new Map<string, Held>()
          for (const batch of all) {
            await store.apply(batch)
            applyTo(held, batch)
          }
          expect(await told(store)).toEqual(expected(held))
          expect(await store.verify()).toEqual([])
        }),
      ),
      runs(times),
    )
  }, 300_000)
}

function batches(): fc.Arbitrary<readonly Change[]> {
  const path = fc.constantFrom(...PATHS)
  const word = fc.constantFrom('red', 'green', 'blue', 'parseLine', 'Grün', 'green blue')
  const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
  const entry = fc
    .record({
      tiers: fc.subarray([...TIERS], { minLength: 1 }),
      text,
      tool: fc.constantFrom(undefined, 'Bash', 'Read'),
      isError: fc.boolean(),
      kind: fc.constantFrom('prompt' as const, 'result' as const),
      offset: fc.nat(12),
    })
    .map(({ tiers, text: said, ...fields }) =>
      entryRow(Object.fromEntries(tiers.map((tier) => [tier, said])), fields),
    )
  const bill = fc
    .tuple(fc.constantFrom('m1', 'm2', 'm3'), fc.nat(100))
    .map(([key, output]) => billRow(key, { output }))
  const file = fc
    .tuple(path, fc.constantFrom('claude', 'codex'), fc.nat(1000))
    .map(([name, agent, offset]) => fileRow(name, { agent, offset }))
  const advances = fc.uniqueArray(
    fc
      .record({
        file,
        entries: fc.array(entry, { maxLength: 4 }),
        bills: fc.uniqueArray(bill, { selector: ({ key }) => key, maxLength: 2 }),
        anew: fc.boolean(),
        replaced: fc.array(fc.nat(12), { maxLength: 2 }),
        as: fc.constantFrom('past' as const, 'news' as const),
      })
      .map(({ file: of, entries, ...fields }) => advance(of, entries, fields)),
    { selector: ({ file: of }) => of.path, maxLength: 3 },
  )
  const others: fc.Arbitrary<Change> = fc.oneof(
    path.map((gone): Change => ({ kind: 'forget', path: gone })),
    fc
      .tuple(path, path)
      .filter(([from, to]) => from !== to)
      .map(([from, to]): Change => ({ kind: 'move', from, to })),
  )
  return fc
    .tuple(fc.array(others, { maxLength: 2 }), advances)
    .map(([before, after]) => [...before, ...after])
}

function applyTo(held: Map<string, Held>, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.kind === 'forget') held.delete(change.path)
    else if (change.kind === 'move') {
      const moved = held.get(change.from)
      held.delete(change.to)
      held.delete(change.from)
      if (moved !== undefined) held.set(change.to, { ...moved, file: { ...moved.file, path: change.to } })
    } else {
      const before = change.anew ? undefined : held.get(change.file.path)
      const bills = new Map(before?.bills)
      for (const bill of change.bills) bills.set(bill.key, bill)
      held.set(change.file.path, {
        file: change.file,
        entries: [
          ...(before?.entries ?? []).filter(({ offset }) => change.replaced?.includes(offset) !== true),
          ...change.entries,
        ],
        bills,
      })
    }
  }
}

async function told(store: Store): Promise<object> {
  const searches = []
  for (const q of QUERIES) {
    const hits = await findAll(store, q, 7)
    const ranks = hits.map(({ where }) => TIERS.indexOf(where))
    const places = hits.map(({ path, offset, kind, tool, where, isError }) =>
      JSON.stringify([path, offset, kind, tool ?? null, where, isError]),
    )
    // Without words the hits are in the order of their age alone.
    const isRanked = toQuery(q, STORE_NOW).clauses.length > 0
    searches.push([
      q,
      places.toSorted(),
      !isRanked || ranks.join() === ranks.toSorted((a, b) => a - b).join(),
    ])
  }
  return {
    files: (await store.files()).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    bills: [...(await store.bills())]
      .map(({ path, key, usage }) => `${path} ${key} ${usage.output}`)
      .toSorted(),
    searches,
  }
}

function expected(held: ReadonlyMap<string, Held>): object {
  const all = [...held.values()]
  return {
    files: all.map(({ file }) => file).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    bills: all
      .flatMap(({ file, bills }) =>
        [...bills.values()].map(({ key, usage }) => `${file.path} ${key} ${usage.output}`),
      )
      .toSorted(),
    searches: QUERIES.map((q) => [q, all.flatMap((each) => hitsIn(each, q)).toSorted(), true]),
  }
}

function hitsIn({ file, entries }: Held, q: string): readonly string[] {
  const query = toQuery(q, STORE_NOW)
  const matcher = createMatcher(query)
  const { any, none } = query.facets.tiers
  if (!fileMatches(query.facets, file)) return []
  return entries
    .filter((entry) => entryMatches(query.facets, entry))
    .flatMap((entry) => {
      const tiers = TIERS.filter(
        (tier) =>
          entry.text[tier] !== undefined &&
          (any.length === 0 || any.includes(tier)) &&
          !none.includes(tier) &&
          matcher.matches(entry.text[tier] ?? ''),
      )
      // Nothing but facets names an entry once.
      const shown = query.clauses.length > 0 ? tiers : tiers.slice(0, 1)
      const { offset, kind, tool, isError } = entry
      return shown.map((where) => JSON.stringify([file.path, offset, kind, tool ?? null, where, isError]))
    })
}
