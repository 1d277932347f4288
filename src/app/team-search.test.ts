import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { number } from '#base'
import { openIndexCore, openIndexFeed, type IndexFeed, type IndexTask, type SessionIndex } from '#ingest'
import type { SessionOrigin, SessionSummary } from '#model'
import { maskLine } from '#redact'
import { openPostgresStore, openTeamBook, toPostgresAddress, type PostgresAddress } from '#store'
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
import type { LiveEvent, SearchPage } from '#wire'
import { maskSecrets } from './mask-secrets.ts'
import { subscribeToQuery } from './query-topic.ts'
import { search, type SearchPlaces } from './search.ts'
import { openTeamSearch, type TeamSearch } from './team-search.ts'

let server: PostgresServer
let place: TeamPlace
let bob: PostgresAddress
let dir: TempDir
let closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  server = await openPostgresServer()
})
afterAll(() => server?.close())
beforeEach(async () => {
  dir = await openTempDir()
  closing = []
  place = await openTeamPlace(server, { admin: { person: 'ada', origin: 'o-ada' } })
  bob = await place.addMachine({ person: 'bob', origin: 'o-bob' })
  const book = await openTeamBook({ address: place.admin })
  await book.share({ kind: 'everything', with: 'everybody' })
  await book.close()
})
afterEach(async () => {
  for (const close of closing.toReversed()) await close()
  await dir.remove()
})

const ADA: SessionOrigin = { origin: 'o-ada', machine: 'desk', person: 'ada', mine: false }
const pathOf = (of: string, name: string): string => join(dir.path, of, `${name}.jsonl`)
const taskOf = (of: string, name: string): IndexTask => ({
  path: pathOf(of, name),
  agent: 'claude',
  session: name,
  createdAt: '2026-11-15T08:00:00.000Z',
})

/** Ends everybody's connection to the database, and lets nobody in until it is told to. */
async function letIn(who: 'nobody' | 'everybody'): Promise<void> {
  const { Client } = await import('pg')
  const client = new Client({ connectionString: server.url })
  const name = new URL(place.url).pathname.slice(1)
  await client.connect()
  await client.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${who === 'everybody'}`)
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
  await client.end()
}

/** Says something in a session, at a machine. */
async function say(of: string, name: string, texts: readonly string[]): Promise<IndexTask> {
  const lines = createLines({ sessionId: name })
  const path = pathOf(of, name)
  await mkdir(dirname(path), { recursive: true })
  await appendFile(path, toJsonl(texts.map((text) => lines.reply([{ type: 'text', text }]))))
  return taskOf(of, name)
}

/** What is mirrored of a file: every line as long as it was, without its secrets. */
async function mirror(name: string): Promise<void> {
  const bytes = await readFile(pathOf('ada', name))
  const lines: Buffer[] = []
  for (let from = 0; from < bytes.length;) {
    const to = bytes.indexOf(10, from) + 1
    lines.push(maskLine(bytes.subarray(from, to)))
    from = to
  }
  await mkdir(dirname(pathOf('mirror', name)), { recursive: true })
  await writeFile(pathOf('mirror', name), Buffer.concat(lines))
}

function openFeed(address: PostgresAddress, mask: (text: string) => string = maskSecrets): IndexFeed {
  const origin = address === bob ? 'o-bob' : 'o-ada'
  const feed = openIndexFeed({
    openStore: async () => ({ ...(await openPostgresStore({ address, most: 2 })), origin }),
    mask,
    gatherMs: 20,
  })
  closing.push(() => feed.close())
  return feed
}

function openTeam(address = bob, patienceMs?: number): TeamSearch {
  const team = openTeamSearch({
    address,
    mirrorPathOf: (origin, path) =>
      origin === 'o-ada' ? path.replace(`${dir.path}/ada/`, `${dir.path}/mirror/`) : undefined,
    now: Date.now,
    patienceMs,
    pollMs: 50,
  })
  closing.push(() => team.close())
  return team
}

async function openOwn(tasks: readonly IndexTask[]): Promise<SessionIndex> {
  const index = openIndexCore({
    path: join(dir.path, 'index.db'),
    origin: 'here',
    onCounts: () => undefined,
    onNotice: () => undefined,
    now: Date.now,
  })
  closing.push(() => index.close())
  index.sync(tasks)
  await index.settled()
  return index
}

/** Knows a session by where its file is. */
function sessionOf(path: string): SessionSummary {
  const id = path.slice(path.lastIndexOf('/') + 1, -'.jsonl'.length)
  const origin = path.startsWith(join(dir.path, 'mirror')) ? ADA : undefined
  return {
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
    origin,
  }
}

const toPlaces = (index: SessionIndex, team: TeamSearch | undefined): SearchPlaces => ({
  sessions: [],
  keeper: { index, sessionOf },
  keepsIndex: true,
  team,
  now: Date.now(),
})

async function allPages(q: string, places: SearchPlaces, limit: number): Promise<readonly SearchPage[]> {
  const pages: SearchPage[] = []
  let cursor: string | undefined
  do {
    const page = await search({ q, limit, ...(cursor === undefined ? {} : { cursor }) }, places)
    pages.push(page)
    cursor = page.next
  } while (cursor !== undefined)
  return pages
}

const placesOf = ({ hits }: SearchPage): readonly string[] =>
  hits.map(({ session, entry }) => `${session.origin?.machine ?? 'here'} ${session.id} ${entry.place.offset}`)

describe('[TEA60] every machine feeds the index of the team from its own files', () => {
  test('masked; what cannot be masked stays, and its entry is there without words', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const task = await say('ada', 's1', [
      `The marmot token is ${secret} today.`,
      'A poisoned marmot.',
      'Plain marmot.',
    ])
    const feed = openFeed(place.admin, (text) => {
      if (text.includes('poisoned')) throw new Error('too hard')
      return maskSecrets(text)
    })
    feed.sync([task])
    await feed.settled()
    expect(feed.status()).toMatchObject({ complete: true, waiting: 0, held: 1 })
    await mirror('s1')
    const found = await openTeam().search({ q: 'marmot', limit: 10 })
    expect(found.hits).toHaveLength(2)
    expect(found.total).toEqual({ count: 2, exact: true })
    const everything = await place.say<{ all: string }>(
      `SELECT string_agg(words || lexemes::text, ' ') AS all FROM entry_text`,
    )
    expect(everything[0]?.all).toContain('redacted')
    expect(everything[0]?.all.toLowerCase()).not.toContain(secret.toLowerCase().slice(4, 20))
    expect(everything[0]?.all).not.toContain('poisoned')
    expect(await place.say('SELECT 1 FROM entry')).toHaveLength(3)
    // Who wrote it finds nothing elsewhere; and what was forgotten is gone.
    expect((await openTeam(place.admin).search({ q: 'marmot', limit: 10 })).hits).toEqual([])
    feed.forget(task.path)
    await expect.poll(() => place.say('SELECT 1 FROM entry')).toEqual([])
  })

  test('[TEA61] while the database is away nothing waits for it; afterwards it goes on where it was', async () => {
    const first = await say('ada', 's1', ['One marmot.'])
    const feed = openFeed(place.admin)
    feed.sync([first])
    await feed.settled()
    await letIn('nobody')
    const index = await openOwn([first])
    await say('ada', 's1', ['Two marmots, one marmot.'])
    const second = await say('ada', 's2', ['Another marmot.'])
    feed.touch(first)
    feed.touch(second)
    index.touch(first)
    index.touch(second)
    await index.settled()
    expect((await index.search({ q: 'marmot' })).hits).toHaveLength(3)
    await expect.poll(() => feed.status().trouble?.message, { timeout: 30_000 }).toBeDefined()
    expect(feed.status().complete).toBe(false)
    await letIn('everybody')
    await feed.settled()
    expect(feed.status().trouble).toBeUndefined()
    expect(await place.say('SELECT 1 FROM entry')).toHaveLength(3)
    expect(await place.say('SELECT DISTINCT file, "offset" FROM entry')).toHaveLength(3)
  })
})

describe('[TEA62] own hits and those of other machines are one list', () => {
  test('in one order, by pages of any size, each once, with one total', async () => {
    const heavy = 'marmot marmot marmot'
    const own = await Promise.all(
      ['own1', 'own2'].map((name) => say('own', name, ['a marmot in the field', heavy, 'no such animal'])),
    )
    const theirs = await Promise.all(
      ['ada1', 'ada2', 'ada3'].map((name) =>
        say('ada', name, [heavy, 'a marmot in the field', `marmot ${'far '.repeat(90)}`]),
      ),
    )
    for (const name of ['ada1', 'ada2', 'ada3']) await mirror(name)
    const feed = openFeed(place.admin)
    feed.sync(theirs)
    await feed.settled()
    const places = toPlaces(await openOwn(own), openTeam())
    const [whole] = await allPages('marmot', places, 50)
    if (whole === undefined) throw new Error('no page')
    expect(whole).toMatchObject({ total: { count: 13, exact: true }, team: 'searched', index: 'complete' })
    expect(new Set(placesOf(whole))).toHaveLength(13)
    expect(whole.hits.find(({ session }) => session.id === 'ada1')?.session.origin).toEqual(ADA)
    // The five heavy ones first, wherever they are; the far one of each last.
    const isHeavy = ({ snippet }: SearchPage['hits'][number]): boolean =>
      snippet.text.includes('marmot marmot')
    expect(whole.hits.map(isHeavy)).toEqual([...Array(5).fill(true), ...Array(8).fill(false)])
    expect(whole.hits.slice(-3).every(({ snippet }) => snippet.text.includes('far'))).toBe(true)
    for (const limit of [1, 3, 4]) {
      const pages = await allPages('marmot', places, limit)
      expect(pages.flatMap(placesOf)).toEqual(placesOf(whole))
      expect(pages.every(({ total }) => total.count === 13)).toBe(true)
    }
    const [byFacet] = await allPages('agent:claude', places, 50)
    expect(byFacet?.total.count).toBe(15)
    expect((await allPages('agent:claude', places, 4)).flatMap(placesOf)).toEqual(
      byFacet && placesOf(byFacet),
    )
    await expect(search({ q: 'marmot', cursor: 'both~x' }, places)).rejects.toMatchObject({
      code: 'request-invalid',
    })
  })

  test('[TEA63] while the database is away own hits come at once, with a note', async () => {
    // It takes connections, and never says a word.
    const mute = createServer().listen(0, '127.0.0.1')
    await once(mute, 'listening')
    closing.push(async () => {
      mute.close()
    })
    const port = String(number(mute.address(), 'port') ?? 0)
    const silent = toPostgresAddress(`postgres://x:y@127.0.0.1:${port}/z`)
    const team = openTeam(silent, 300)
    const places = toPlaces(await openOwn([await say('own', 'own1', ['a marmot', 'two marmots'])]), team)
    const page = await search({ q: 'marmot*', limit: 1 }, places)
    expect(page).toMatchObject({ team: 'away', total: { count: 2, exact: false } })
    expect(page.notes).toContainEqual(expect.stringContaining('was not searched'))
    expect(page.hits).toHaveLength(1)
    // Nobody waits a second time.
    const started = performance.now()
    const rest = await search({ q: 'marmot*', limit: 5, cursor: page.next ?? '' }, places)
    expect(rest.hits).toHaveLength(1)
    expect(rest.next).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(300)
  })
})

test('[TEA64] whoever waits for a query hears of what other machines write, each once', async () => {
  const feed = openFeed(place.admin)
  feed.sync([await say('ada', 's1', ['An old marmot.'])])
  await feed.settled()
  await mirror('s1')
  const own = await say('own', 'own1', ['nothing'])
  const index = await openOwn([own])
  const team = openTeam()
  const events: LiveEvent[] = []
  const places = { keeper: { opening: Promise.resolve(index), sessionOf }, team }
  const subscription = await subscribeToQuery(places, 'marmot', {
    onEvent: (event) => void events.push(event),
  })
  const told = (): readonly string[] =>
    events.flatMap((event) =>
      event.kind === 'hit.found'
        ? `${event.hit.session.origin?.person ?? 'me'} ${event.hit.snippet.text}`
        : [],
    )
  await expect.poll(() => events.filter(({ kind }) => kind === 'caught-up').length).toBeGreaterThanOrEqual(2)
  await say('ada', 's1', ['A new marmot.'])
  await mirror('s1')
  feed.touch(taskOf('ada', 's1'))
  await expect.poll(told, { timeout: 20_000 }).toEqual(['ada A new marmot.'])
  await say('own', 'own1', ['My marmot.'])
  index.touch(own)
  await expect.poll(told, { timeout: 20_000 }).toEqual(['ada A new marmot.', 'me My marmot.'])
  const { cursor } = subscription
  subscription.close()
  // What came while nobody listened is told when somebody listens again, and nothing else.
  await say('ada', 's1', ['A later marmot.'])
  await mirror('s1')
  feed.touch(taskOf('ada', 's1'))
  await feed.settled()
  events.length = 0
  const again = await subscribeToQuery(places, 'marmot', {
    onEvent: (event) => void events.push(event),
    ...(cursor === undefined ? {} : { cursor }),
  })
  await expect.poll(told, { timeout: 20_000 }).toEqual(['ada A later marmot.'])
  again.close()
})

test('[TEA65] what was used on all machines of a person is one report, each message once', async () => {
  const tablet = await place.addMachine({ person: 'ada', origin: 'o-tablet' })
  const feeds = [
    openFeed(place.admin),
    openIndexFeed({
      openStore: async () => ({
        ...(await openPostgresStore({ address: tablet, most: 2 })),
        origin: 'o-tablet',
      }),
      mask: maskSecrets,
    }),
  ]
  closing.push(async () => await feeds[1]?.close())
  const here = await say('ada', 's1', ['one', 'two'])
  // The same messages, copied, and one more.
  const there = {
    ...(await say('tablet', 's1', ['one', 'two', 'three'])),
    createdAt: '2026-11-15T09:00:00.000Z',
  }
  feeds[0]?.sync([here])
  feeds[1]?.sync([there])
  for (const feed of feeds) await feed.settled()
  const local = { compactions: { count: 1, tokens: 7, unknown: 0, unbilled: 0 }, complete: true }
  const report = await openTeam(place.admin).usage({ by: 'model', machines: 'mine' }, local)
  expect(report).toMatchObject({
    machines: 'mine',
    compactions: { count: 1, tokens: 7, unknown: 0, unbilled: 0 },
    total: { messages: 3 },
  })
  expect(report.rows.map(({ key, usage }) => [key, usage.output])).toEqual([['claude-opus-5-5', 15]])
  const days = await openTeam(place.admin).usage({ by: 'day', timeZone: 'Asia/Kathmandu' }, local)
  expect(days.rows.map(({ key, messages }) => [key, messages])).toEqual([['2026-11-15', 3]])
  expect((await openTeam().usage({ by: 'model' }, local)).total.messages).toBe(0)
})
