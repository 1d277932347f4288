import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { openSqliteStore, openPostgresStore, openTeamLog, toQuery, type Store, type TeamLog } from '#store'
import { openTempDir } from '#testing'
import { bareCopy } from './bare-copy.ts'
import type { Bench } from './bench.ts'
import { hold } from './comparison.ts'
import { quantile } from './measure.ts'
import { ms, times, type Row } from './table.ts'
import { teamFeedRows, teamLoadRows } from './team-load.ts'
import {
  indexInto,
  openTeamGround,
  originOf,
  readCorpusLines,
  toCorpusTasks,
  type CorpusLine,
  type TeamGround,
} from './team-place.ts'

/** What is sent at once, as the outbox does. */
const BATCH = 1024 * 1024
const MOST = 64e6
const PAGE = 64 * 1024

/** What a team costs: lines and pages of the shared log, searching the index, and many machines at once. */
export async function teamRows(bench: Bench): Promise<readonly Row[]> {
  const ground = await openTeamGround()
  try {
    const lines = readCorpusLines(bench.configDir, MOST)
    return [
      ...(await logRows(ground, lines, bench.rounds)),
      ...(await indexRows(ground, bench)),
      ...(await teamLoadRows(ground)),
      ...(await teamFeedRows(ground)),
    ]
  } finally {
    await ground.close()
  }
}

async function logRows(
  { place }: TeamGround,
  lines: readonly CorpusLine[],
  rounds: number,
): Promise<readonly Row[]> {
  const log = await openTeamLog({ address: place.admin })
  const client = new Client({ connectionString: place.url })
  await client.connect()
  try {
    const bytes = lines.map((line) => line.bytes)
    const bare: number[] = []
    const ours: number[] = []
    for (let round = 0; round < rounds; round++) {
      bare.push(await bareCopy(client, bytes))
      ours.push(await append(log, lines, round))
    }
    const [least, most] = [quantile(bare, 0.5), quantile(ours, 0.5)]
    const rate = (took: number): string =>
      `${Math.round((lines.length / took) * 1000).toLocaleString('en')} lines/s`
    const megabytes = bytes.reduce((sum, line) => sum + line.length, 0) / 1e6
    return [
      hold({
        name: 'team, lines into the shared log, of the rate of bare COPY',
        value: least / most,
        show: times,
        least: 0.3,
        against: `COPY ${rate(least)}`,
        note: `${rate(most)}, ${((megabytes / most) * 1000).toFixed(0)} MB/s; each hashed, numbered, once`,
      }),
      ...(await pageRows(log, lines)),
    ]
  } finally {
    await client.end()
    await log.close()
  }
}

async function append(log: TeamLog, lines: readonly CorpusLine[], round: number): Promise<number> {
  const files = new Map<string, number>()
  const started = performance.now()
  let batch: { file: number; offset: number; bytes: Buffer }[] = []
  let size = 0
  for (const { path, offset, bytes } of lines) {
    let file = files.get(path)
    if (file === undefined) {
      file = await log.putFile({
        kind: 'transcript',
        path,
        identity: `${round} ${path}`,
        scope: 'team',
        session: path,
      })
      files.set(path, file)
    }
    batch.push({ file, offset, bytes })
    size += bytes.length
    if (size < BATCH) continue
    await log.append(batch)
    batch = []
    size = 0
  }
  await log.append(batch)
  return performance.now() - started
}

/** The largest file, page by page, against reading the same bytes from disk. */
async function pageRows(log: TeamLog, lines: readonly CorpusLine[]): Promise<readonly Row[]> {
  const ends = new Map<string, number>()
  for (const { path, offset, bytes } of lines) ends.set(path, offset + bytes.length)
  const [path = '', end = 0] = [...ends].toSorted((a, b) => b[1] - a[1])[0] ?? []
  const files = await log.files({ kind: 'transcript', limit: 10_000 })
  const file = files.findLast((one) => one.path === path)?.number ?? 0
  const [paged, read]: [number[], number[]] = [[], []]
  const handle = await open(path)
  const buffer = Buffer.alloc(PAGE)
  for (let n = 0; n < 200; n++) {
    const from = Math.floor((end * ((n * 37) % 200)) / 200)
    let started = performance.now()
    await log.readPage({ file, from, bytes: PAGE })
    paged.push(performance.now() - started)
    started = performance.now()
    await handle.read(buffer, 0, PAGE, from)
    read.push(performance.now() - started)
  }
  await handle.close()
  return [
    hold({
      name: 'team, a page of 64 kB from the shared log, p50',
      value: quantile(paged, 0.5),
      show: ms,
      most: 20,
      against: `disk ${ms(quantile(read, 0.5))}`,
      note: `p99 ${ms(quantile(paged, 0.99))}; of a file of ${(end / 1e6).toFixed(1)} MB`,
    }),
  ]
}

async function indexRows({ place }: TeamGround, bench: Bench): Promise<readonly Row[]> {
  const dir = await openTempDir()
  const local = openSqliteStore({ path: join(dir.path, 'index.db'), onSetAside: () => undefined })
  const store = await openPostgresStore({ address: place.admin })
  try {
    const tasks = toCorpusTasks(bench.configDir)
    let started = performance.now()
    const entries = await indexInto(local, tasks, 'here')
    const [localMs, localSize] = [performance.now() - started, await local.size()]
    started = performance.now()
    await indexInto(store, tasks, await originOf(place, new URL(place.admin.reveal()).username))
    const teamMs = performance.now() - started
    for (const one of [local, store]) while (await one.tidy()) continue
    // The server would do it by itself within a minute.
    await place.say('ANALYZE')
    const rate = (took: number): string => `${Math.round((entries / took) * 1000).toLocaleString('en')}/s`
    const queries = [
      'error',
      'file',
      'function test',
      '"the file"',
      'comp*',
      'tool:Bash error',
      ...bench.facts.needles.slice(0, 6).map(({ text }) => `"${text}"`),
    ]
    const [here, there] = [await searchTimes(local, queries), await searchTimes(store, queries)]
    return [
      hold({
        name: 'team, entries into the index in PostgreSQL, of the rate of SQLite',
        value: localMs / teamMs,
        show: times,
        against: `SQLite ${rate(localMs)}, ${Math.round(localSize / entries)} bytes each`,
        note: `${rate(teamMs)}, ${Math.round((await store.size()) / entries)} bytes each; ${entries} entries, reading included`,
      }),
      hold({
        name: 'team, searching the index in PostgreSQL, p50',
        value: quantile(there, 0.5),
        show: ms,
        against: `SQLite ${ms(quantile(here, 0.5))}, p99 ${ms(quantile(here, 0.99))}`,
        ratio: times(quantile(there, 0.5) / quantile(here, 0.5)),
        most: 100,
        note: `p99 ${ms(quantile(there, 0.99))}; ${queries.length} queries, a page of 20`,
      }),
    ]
  } finally {
    await store.close()
    await local.close()
    await dir.remove()
  }
}

/** How long each of some queries takes, again and again. */
export async function searchTimes(
  store: Pick<Store, 'search'>,
  queries: readonly string[],
  rounds = 8,
): Promise<readonly number[]> {
  const took: number[] = []
  for (let round = 0; round <= rounds; round++) {
    for (const q of queries) {
      const query = toQuery(q, 0)
      const started = performance.now()
      await store.search({ query, limit: 20 })
      if (round > 0) took.push(performance.now() - started)
    }
  }
  return took
}
