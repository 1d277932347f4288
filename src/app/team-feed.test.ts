import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CatalogueChange } from '#ingest'
import type { SessionSummary } from '#model'
import { toPostgresAddress } from '#store'
import {
  createLines,
  openPostgresServer,
  openTeamPlace,
  openTempDir,
  toJsonl,
  type PostgresServer,
  type TeamPlace,
  type TempDir,
} from '#testing'
import { openTeamFeed, type TeamFeed, type TeamFeedOptions } from './team-feed.ts'

let server: PostgresServer
let place: TeamPlace
let dir: TempDir
let feed: TeamFeed | undefined
let sessions: SessionSummary[] = []
let tell: (change: CatalogueChange) => void = () => {}

beforeAll(async () => {
  server = await openPostgresServer()
})
afterAll(() => server?.close())
beforeEach(async () => {
  dir = await openTempDir()
  place = await openTeamPlace(server)
  sessions = []
})
afterEach(async () => {
  await feed?.close()
  await dir.remove()
})

async function session(id: string, rest: Partial<SessionSummary> = {}): Promise<SessionSummary> {
  const path = join(dir.path, `${id}.jsonl`)
  await mkdir(dir.path, { recursive: true })
  await writeFile(
    path,
    toJsonl([createLines({ sessionId: id }).reply([{ type: 'text', text: `I am ${id}.` }])]),
  )
  const made: SessionSummary = {
    id,
    agent: 'claude',
    path,
    size: 0,
    workdirs: ['/w'],
    workdirsComplete: true,
    subagents: [],
    toolResults: [],
    archived: false,
    state: 'ok',
    ...rest,
  }
  sessions.push(made)
  return made
}

/** What follows sessions, as far as feeding asks it. */
function open(more: Partial<TeamFeedOptions> = {}): TeamFeed {
  const keeper = {
    catalogue: { sessions: () => sessions },
    onChange(listener: (change: CatalogueChange) => void) {
      tell = listener
      return () => {}
    },
  }
  return openTeamFeed({ address: place.admin, keeper, ...more })
}

const fed = async (): Promise<readonly string[]> =>
  (await place.say<{ session: string }>('SELECT session FROM file ORDER BY session')).map(
    (row) => row.session,
  )
const words = async (): Promise<string> =>
  (await place.say<{ words: string }>('SELECT words FROM entry_text ORDER BY entry'))
    .map((row) => row.words)
    .join('')

test('[TEA67] a thread of its own feeds this machine’s sessions: no samples, no others’, none that stays here', async () => {
  const own = await session('own')
  await session('sample', { demo: true })
  await session('mirrored', { origin: { origin: 'x', machine: 'desk', person: 'bob', mine: false } })
  const kept = await session('kept')
  let keepsIt = true
  feed = open({ ships: ({ id }) => id !== 'kept' || !keepsIt })
  await feed.settled()
  expect(await fed()).toEqual(['own'])
  await appendFile(own.path, toJsonl([createLines({ sessionId: 'own' }).prompt('More of it.')]))
  tell({ kind: 'changed', session: own, files: [own.path] })
  await expect.poll(words, { timeout: 20_000 }).toContain('more  of  it')
  keepsIt = false
  feed.resync()
  await feed.settled()
  expect(await fed()).toEqual(['kept', 'own'])
  keepsIt = true
  tell({ kind: 'changed', session: kept, files: [kept.path] })
  await expect.poll(fed, { timeout: 20_000 }).toEqual(['own'])
  tell({ kind: 'removed', session: own })
  await expect.poll(fed, { timeout: 20_000 }).toEqual([])
  expect(feed.status()).toMatchObject({ complete: true, held: 0 })
})

test('[TEA67] what keeps it from the database is said, without its password', async () => {
  await session('own')
  const wrong = toPostgresAddress(place.admin.reveal().replace(/:[^:@/]+@/, ':not-the-password@'))
  feed = open({ address: wrong })
  await expect.poll(() => feed?.status().trouble?.code, { timeout: 30_000 }).toBeDefined()
  expect(JSON.stringify(feed.status())).not.toContain('not-the-password')
  expect(feed.status().complete).toBe(false)
})
