import { appendFileSync, utimesSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { createSurvey, factsToCounts, type SessionCounts } from '#model'
import { claudeFormat } from '#sources'
import { openSqliteStore, toQuery, toSearchText, type SqliteStore } from '#store'
import { createLines, eventually, openTempDir, readAll, runs, toJsonl, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createGrowth } from './growth.ts'
import { countSessions } from './index-counts.ts'
import type { IndexTask } from './index-task.ts'
import { createIndexer, type Indexer } from './indexer.ts'

let dir: TempDir
let path = ''
let store: SqliteStore
const fail = (error: unknown): never => {
  throw error
}

beforeEach(async () => {
  dir = await openTempDir()
  await begin()
})
afterEach(async () => {
  await store.close()
  await dir.remove()
})

let stores = 0
async function begin(): Promise<void> {
  await store?.close()
  path = join(dir.path, `a-${stores}.jsonl`)
  store = openSqliteStore({ path: join(dir.path, `index-${stores++}.db`) })
}

const task = (): IndexTask => ({ path, agent: 'claude', session: 'a', createdAt: '' })

function open(more: { readonly now?: () => number; readonly restMs?: number } = {}): Indexer {
  return createIndexer({ store, origin: 'here', onFailure: fail, ...more })
}

const lines = createLines()
const withoutEnd = (...made: readonly object[]): string => toJsonl(made).slice(0, -1)

/** What the index says of the file. */
async function indexed(indexer: Indexer): Promise<object> {
  const { hits } = await store.search({ query: toQuery('agent:claude', 0), limit: 10_000 })
  const counts = await countSessions(store, indexer.files(), undefined)
  return {
    entries: hits.map(({ offset, length, kind }) => [offset, length, kind]).toSorted(byOffset),
    counts: counts.get('a'),
  }
}

/** What reading it says. */
async function read(): Promise<object> {
  const survey = createSurvey('a')
  const entries: [number, number, string][] = []
  let count = 0
  for (const reading of await readAll(path)) {
    if (reading.kind === 'damage') survey.addDamage(reading.damage)
    else {
      const { entry } = reading
      survey.addEntry(entry)
      const { offset, length } = entry.place
      if (toSearchText(entry) !== undefined) entries.push([offset, length, entry.kind])
    }
    count++
  }
  const { facts } = survey.finish()
  const counts: SessionCounts = { ...factsToCounts(facts), lines: await countLines() }
  expect(count).toBeGreaterThanOrEqual(facts.entries)
  return { entries: entries.toSorted(byOffset), counts }
}

async function countLines(): Promise<number> {
  const text = await readFile(path, 'latin1')
  return text.split('\n').length - Number(text.endsWith('\n') || text === '')
}

function byOffset([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return Number(a) - Number(b)
}

test('[ING17] a last record without its newline is indexed, counted and billed, and never doubled', async () => {
  const said = lines.reply([{ type: 'text', text: 'The quokkaberry answer is 4711.' }])
  writeFileSync(path, withoutEnd(lines.prompt('go'), said))
  const indexer = open()
  await indexer.sync([task()])
  await indexer.settled()
  const count = async (): Promise<number> =>
    (await store.search({ query: toQuery('quokkaberry', 0), limit: 5 })).total.count
  for (const more of ['', '\n', toJsonl([lines.prompt('and?')])]) {
    appendFileSync(path, more)
    indexer.touch(task())
    await indexer.settled()
    expect(await indexed(indexer)).toEqual(await read())
    expect(await count()).toBe(1)
    expect((await store.totals(['a']))[0]).toMatchObject({ replies: 1, usage: { input: 10, output: 5 } })
  }
})

/** Bytes as agents and crashes leave them: whole lines, lines without an end, torn ones, garbage. */
function pieces(): fc.Arbitrary<readonly string[]> {
  const maker = createLines()
  let calls = 0
  const line = fc
    .constantFrom('prompt', 'reply', 'call')
    .map((kind) =>
      kind === 'prompt'
        ? JSON.stringify(maker.prompt('a word'))
        : kind === 'reply'
          ? JSON.stringify(maker.reply([{ type: 'text', text: 'said' }]))
          : JSON.stringify(
              maker.reply([{ type: 'tool_use', id: `toolu_${calls++}`, name: 'Bash', input: {} }]),
            ),
    )
  const torn = fc.tuple(line, fc.double({ min: 0.1, max: 0.9, noNaN: true }))
  return fc.array(
    fc.oneof(
      { weight: 6, arbitrary: line.map((text) => `${text}\n`) },
      { weight: 3, arbitrary: line },
      { weight: 2, arbitrary: torn.map(([text, part]) => text.slice(0, Math.floor(part * text.length))) },
      { weight: 2, arbitrary: fc.constantFrom('\n', '\r\n', ' ', '\u0000\u0000', 'x', '\n\n') },
    ),
    { minLength: 1, maxLength: 12 },
  )
}

test('[ING17] bytes appended in any cuts: the index says what reading says', async () => {
  await fc.assert(
    fc.asyncProperty(pieces(), fc.array(fc.nat(400), { maxLength: 30 }), async (all, sizes) => {
      await begin()
      const text = all.join('')
      writeFileSync(path, '')
      let indexer = open()
      await indexer.sync([task()])
      let at = 0
      for (const [nth, size] of [...sizes, text.length].entries()) {
        appendFileSync(path, text.slice(at, at + size))
        at = Math.min(text.length, at + size)
        // Now and then another process goes on.
        if (nth % 5 === 4) {
          await indexer.stop()
          indexer = open()
          await indexer.sync([task()])
        } else indexer.touch(task())
        await indexer.settled()
        expect(await indexed(indexer)).toEqual(await read())
      }
      await indexer.stop()
    }),
    runs(60),
  )
})

test('[ING18] while a last line may still be coming the index is not complete', async () => {
  let now = 1_000_000_000_000
  const stamp = (): void => utimesSync(path, now / 1000, now / 1000)
  writeFileSync(path, withoutEnd(lines.prompt('go'), lines.prompt('on')))
  stamp()
  const indexer = open({ now: () => now, restMs: 100 })
  await indexer.sync([task()])
  await eventually(async () => expect(indexer.progress()).toMatchObject({ files: { done: 0, total: 1 } }))
  expect(indexer.progress().complete).toBe(false)
  expect(await indexed(indexer)).toMatchObject({ counts: { prompts: 1 } })
  now += 200
  await eventually(async () => expect(indexer.progress().complete).toBe(true))
  expect(await indexed(indexer)).toEqual(await read())
  // A process that ends meanwhile leaves it to the next one.
  appendFileSync(path, `\n${withoutEnd(lines.prompt('more'))}`)
  stamp()
  indexer.touch(task())
  await eventually(async () => expect(indexer.progress().complete).toBe(false))
  await indexer.stop()
  now += 200
  const next = open({ now: () => now, restMs: 100 })
  await next.sync([task()])
  await next.settled()
  expect(await indexed(next)).toEqual(await read())
  await next.stop()
})

test('[ING18] one timer serves all files whose last line may still be coming', async () => {
  const now = Date.now()
  const tasks = Array.from({ length: 200 }, (_, n) => ({ ...task(), path: join(dir.path, `${n}.jsonl`) }))
  for (const { path: each } of tasks) writeFileSync(each, withoutEnd(lines.prompt('go')))
  const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const indexer = open({ now: () => now, restMs: 60_000 })
  await indexer.sync(tasks)
  await eventually(async () => expect(indexer.progress().bytes.done).toBe(0))
  const after = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  expect(after - before).toBeLessThanOrEqual(1)
  await indexer.stop()
})

test('[LIV4] a last record without its newline is told when the file is at rest, and told once', async () => {
  let isAtRest = false
  writeFileSync(path, toJsonl([lines.prompt('one')]))
  const growth = createGrowth({ path, format: claudeFormat, size: 0, isAtRest: () => isAtRest })
  const told = async (): Promise<readonly (string | number)[]> => {
    const all: (string | number)[] = []
    for await (const event of growth.news())
      all.push(
        event.kind === 'grown' ? event.readings.length : event.kind === 'reset' ? event.reason : 'gone',
      )
    return all
  }
  expect(await told()).toEqual([1])
  appendFileSync(path, withoutEnd(lines.prompt('two')))
  expect(await told()).toEqual([])
  expect(await told()).toEqual([])
  isAtRest = true
  expect(await told()).toEqual([1])
  expect(await told()).toEqual([])
  appendFileSync(path, '\n')
  expect(await told()).toEqual([])
  appendFileSync(path, toJsonl([lines.prompt('three')]))
  expect(await told()).toEqual([1])
  // What was told without its newline, and goes on otherwise, is void.
  appendFileSync(path, withoutEnd(lines.prompt('four')))
  expect(await told()).toEqual([1])
  appendFileSync(path, 'x\n')
  expect(await told()).toEqual(['rewritten'])
  // Torn, it is told by nobody.
  appendFileSync(path, '{"type":"user","mess')
  expect(await told()).toEqual([])
})
