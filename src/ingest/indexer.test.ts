import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { type Meter } from '#sources'
import { openSqliteStore, toQuery, type SqliteStore } from '#store'
import { createLines, openTempDir, runs, toJsonl, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { IndexTask } from './index-task.ts'
import { createIndexer, type Committed, type Indexer } from './indexer.ts'

const KB = 1024
let dir: TempDir
let store: SqliteStore
let stores = 0
const failures: unknown[] = []

beforeEach(async () => {
  dir = await openTempDir()
  store = openStore()
  failures.length = 0
})
afterEach(async () => {
  await store.close()
  await dir.remove()
})

function openStore(): SqliteStore {
  return openSqliteStore({ path: join(dir.path, `index-${stores++}.db`) })
}

function open(
  on: SqliteStore,
  more: { meter?: Meter; batch?: number; committed?: Committed[] } = {},
): Indexer {
  const { meter, batch, committed } = more
  return createIndexer({
    store: on,
    origin: 'here',
    onFailure: (error) => failures.push(error),
    onCommit: (each) => committed?.push(each),
    ...(meter === undefined ? {} : { meter }),
    ...(batch === undefined ? {} : { batch }),
  })
}

const pathOf = (name: string): string => join(dir.path, `${name}.jsonl`)
const taskOf = (name: string): IndexTask => ({
  path: pathOf(name),
  agent: 'claude',
  session: name,
  createdAt: '',
})
const lines = createLines()
const said = (text: string): string => toJsonl([lines.reply([{ type: 'text', text }])])

async function rowsOf(of: SqliteStore): Promise<readonly string[]> {
  const { hits } = await of.search({ query: toQuery('agent:claude', 0), limit: 100_000 })
  return hits
    .map(({ path, offset, length, kind, where }) => `${path} ${offset} ${length} ${kind} ${where}`)
    .toSorted()
}

async function filesOf(of: SqliteStore): Promise<readonly string[]> {
  return (await of.files()).map(({ path, offset, fold }) => `${path} ${offset} ${fold}`).toSorted()
}

/** The same files, indexed by somebody who never saw them before. */
async function expectFresh(names: readonly string[]): Promise<void> {
  const fresh = openStore()
  const indexer = open(fresh)
  await indexer.sync(names.map(taskOf))
  await indexer.settled()
  expect(await rowsOf(store)).toEqual(await rowsOf(fresh))
  expect(await filesOf(store)).toEqual(await filesOf(fresh))
  expect(await store.verify()).toEqual([])
  expect(failures).toEqual([])
  await fresh.close()
}

test('[ING1] [ING5] what a file is known for is what was told last, also while it waits to be read', async () => {
  const [early, late] = ['2026-11-15T08:00:00.000Z', '2026-11-15T09:00:00.000Z']
  const createdAts = async (): Promise<readonly string[]> =>
    (await store.files()).map(({ path, createdAt }) => `${path} ${createdAt}`).toSorted()
  writeFileSync(pathOf('a'), said('word '.repeat(200 * KB)))
  writeFileSync(pathOf('b'), said('b'))
  const first = open(store)
  // Nothing is known of it yet, and before it is its turn something is.
  await first.sync([taskOf('a'), taskOf('b')])
  first.touch({ ...taskOf('b'), createdAt: early })
  await first.settled()
  expect(await createdAts()).toEqual([`${pathOf('a')} `, `${pathOf('b')} ${early}`])
  // Told before the index is open: what is told last holds, and a name that went is gone.
  const second = open(store)
  writeFileSync(pathOf('c'), said('c'))
  void second.sync([{ ...taskOf('a'), createdAt: early }, taskOf('b'), taskOf('c')])
  second.touch({ ...taskOf('c'), createdAt: late })
  renameSync(pathOf('b'), pathOf('d'))
  second.move(pathOf('b'), pathOf('d'))
  second.touch({ ...taskOf('d'), session: 'b', createdAt: late })
  await second.settled()
  expect(await createdAts()).toEqual([
    `${pathOf('a')} ${early}`,
    `${pathOf('c')} ${late}`,
    `${pathOf('d')} ${late}`,
  ])
  expect(failures).toEqual([])
})

test.each([100 * KB, process.env['RUNS'] === 'full' ? 300_000 * KB : 30_000 * KB])(
  '[ING2] one appended line costs the line and a fixed guard, and a handful of rows: a file of %i bytes',
  async (size) => {
    const meter: Meter = { bytesRead: 0 }
    const committed: Committed[] = []
    const piece = said('x'.repeat(50 * KB)) + said('some words of no meaning '.repeat(400))
    writeFileSync(pathOf('a'), said('the first'))
    for (let written = 0; written < size; written += piece.length) appendFileSync(pathOf('a'), piece)
    const indexer = open(store, { meter, committed })
    await indexer.sync([taskOf('a')])
    await indexer.settled()
    expect(meter.bytesRead).toBeLessThan(statSync(pathOf('a')).size + 100 * 16 * KB)

    committed.length = 0
    const line = said('one more kumquat')
    appendFileSync(pathOf('a'), line)
    meter.bytesRead = 0
    indexer.touch(taskOf('a'))
    await indexer.settled()
    // One byte more says where the last line ends, and one whether the line before was ended.
    expect(meter.bytesRead).toBeLessThanOrEqual(line.length + 16 * KB + 2)
    expect(committed.map(({ rows }) => rows)).toEqual([4])
    expect((await store.search({ query: toQuery('kumquat', 0), limit: 5 })).total.count).toBe(1)
  },
)

test('[ING1] [FLT16] when a session began is put right, though its file is read already', async () => {
  writeFileSync(pathOf('a'), said('a').repeat(300))
  const meter: Meter = { bytesRead: 0 }
  const indexer = open(store, { meter })
  // A file that was made anew while it was listed: it is read as it is now, and its beginning is known later.
  await indexer.sync([{ ...taskOf('a'), createdAt: '2026-11-15T08:00:00.000Z' }])
  await indexer.settled()
  const began = async (): Promise<readonly string[]> =>
    (await store.files()).map(({ createdAt }) => createdAt)
  expect(await began()).toEqual(['2026-11-15T08:00:00.000Z'])
  meter.bytesRead = 0
  indexer.touch({ ...taskOf('a'), createdAt: '2026-11-15T09:00:00.000Z' })
  await indexer.settled()
  expect(await began()).toEqual(['2026-11-15T09:00:00.000Z'])
  expect(meter.bytesRead).toBeLessThan(40 * KB)
  await expectFresh(['a'])
})

test('[ING3] what did not change is not read again, by a next process either', async () => {
  for (const name of ['a', 'b', 'c']) writeFileSync(pathOf(name), said(name).repeat(50))
  const first = open(store)
  await first.sync(['a', 'b', 'c'].map(taskOf))
  await first.settled()
  await first.stop()
  const meter: Meter = { bytesRead: 0 }
  const committed: Committed[] = []
  const next = open(store, { meter, committed })
  await next.sync(['a', 'b', 'c'].map(taskOf))
  await next.settled()
  expect(meter.bytesRead).toBe(0)
  expect(committed).toEqual([])
  expect(next.progress()).toMatchObject({ files: { done: 3, total: 3 }, complete: true })
  const { bytes } = next.progress()
  expect(bytes.done).toBe(bytes.total)
})

test('[ING4] a line that is not whole is read when it is, and then once', async () => {
  const whole = said('first')
  const line = said('second parseLine')
  writeFileSync(pathOf('a'), whole)
  const indexer = open(store)
  await indexer.sync([taskOf('a')])
  for (const [from, to] of [
    [0, 10],
    [10, line.length - 1],
    [line.length - 1, line.length],
  ] as const) {
    appendFileSync(pathOf('a'), line.slice(from, to))
    indexer.touch(taskOf('a'))
    await indexer.settled()
    const [file] = await store.files()
    // It is whole before its newline comes.
    expect(file?.offset).toBe(whole.length + (to < line.length - 1 ? 0 : to))
  }
  await expectFresh(['a'])
})

test('[ING5] a build that was stopped goes on where it was, and the result is the same', async () => {
  const names = ['a', 'b', 'c', 'd']
  for (const name of names)
    writeFileSync(
      pathOf(name),
      Array.from({ length: 400 }, (_, n) => said(`${name} ${n} ${'word '.repeat(200)}`)).join(''),
    )
  for (let round = 0; round < 5; round++) {
    const indexer = open(store, { batch: 20_000 })
    await indexer.sync(names.map(taskOf))
    for (let turns = 0; turns < 3 + round; turns++) await turn()
    await indexer.stop()
  }
  const { length } = await rowsOf(store)
  expect(length).toBeGreaterThan(0)
  const last = open(store)
  await last.sync(names.map(taskOf))
  await last.settled()
  await expectFresh(names)
})

test('[ING5] news goes before the past, and the newest of the past before the rest', async () => {
  const names = Array.from({ length: 30 }, (_, n) => `s${n}`)
  for (const name of names) writeFileSync(pathOf(name), said(`${name} ${'word '.repeat(5000)}`))
  const committed: Committed[] = []
  const indexer = open(store, { batch: 10_000, committed })
  await indexer.sync(names.slice(0, 29).map(taskOf))
  indexer.touch(taskOf('s29'))
  await indexer.settled()
  const order = committed.flatMap(({ sessions }) => sessions)
  expect(order.indexOf('s29')).toBeLessThan(3)
  expect(order.filter((name) => name !== 's29')).toEqual(names.slice(0, 29))
})

test('[ING6] one file that cannot be read hides no other', async () => {
  writeFileSync(pathOf('a'), said('fine'))
  mkdirSync(pathOf('folder'))
  const problems: string[] = []
  const indexer = createIndexer({
    store,
    origin: 'here',
    onProblem: (path) => problems.push(path),
    onFailure: (error) => failures.push(error),
  })
  await indexer.sync([taskOf('folder'), taskOf('gone'), taskOf('a')])
  await indexer.settled()
  expect(problems).toEqual([pathOf('folder')])
  expect(await rowsOf(store)).toHaveLength(1)
})

type Call =
  | { readonly kind: 'append' | 'touch' | 'forget' | 'rewrite' | 'truncate'; readonly name: string }
  | { readonly kind: 'move'; readonly name: string; readonly to: string }
  | { readonly kind: 'sync' }
  | { readonly kind: 'turn'; readonly turns: number }

const NAMES = ['a', 'b', 'c']

test('[ING1] [ING5] calls may come at any moment of a build: in the end the index is that of the files', async () => {
  const name = fc.constantFrom(...NAMES)
  const call: fc.Arbitrary<Call> = fc.oneof(
    fc.record({ kind: fc.constantFrom('append', 'touch', 'forget', 'rewrite', 'truncate'), name }),
    fc.record({ kind: fc.constant('move' as const), name, to: name }),
    fc.constant({ kind: 'sync' as const }),
    fc.record({ kind: fc.constant('turn' as const), turns: fc.nat(4) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 20 }), async (calls) => {
      await store.close()
      store = openStore()
      const there = new Set(NAMES)
      for (const each of NAMES) writeFileSync(pathOf(each), filler(each, 60))
      const indexer = open(store, { batch: 5_000 })
      await indexer.sync(NAMES.map(taskOf))
      for (const each of calls) await make(indexer, there, each)
      await indexer.settled()
      await expectFresh([...there])
    }),
    runs(60),
  )
})

function filler(word: string, count: number): string {
  return Array.from({ length: count }, (_, n) => said(`${word} ${n} ${'lorem '.repeat(60)}`)).join('')
}

/** Does to a file what is then told, as a catalogue tells it. */
async function make(indexer: Indexer, there: Set<string>, call: Call): Promise<void> {
  if (call.kind === 'turn') {
    for (let n = 0; n < call.turns; n++) await turn()
    return
  }
  if (call.kind === 'sync') return indexer.sync([...there].map(taskOf))
  const path = pathOf(call.name)
  if (call.kind === 'append') {
    appendFileSync(path, filler('more', 3))
    there.add(call.name)
    indexer.touch(taskOf(call.name))
    return
  }
  if (!there.has(call.name)) return
  switch (call.kind) {
    case 'touch':
      indexer.touch(taskOf(call.name))
      break
    case 'forget':
      rmSync(path)
      there.delete(call.name)
      indexer.forget(path)
      break
    case 'rewrite':
      rmSync(path)
      writeFileSync(path, filler('other', 30))
      indexer.touch(taskOf(call.name))
      break
    case 'truncate':
      truncateSync(path, statSync(path).size >> 1)
      indexer.touch(taskOf(call.name))
      break
    case 'move':
      if (call.to === call.name) return
      renameSync(path, pathOf(call.to))
      there.delete(call.name)
      there.add(call.to)
      indexer.move(path, pathOf(call.to))
      indexer.touch(taskOf(call.to))
      break
  }
}
