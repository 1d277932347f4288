import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openTeamBook, type PostgresAddress } from '#store'
import {
  createLines,
  openPostgresServer,
  openTeamPlace,
  openTempDir,
  toJsonl,
  writeTranscript,
  type PostgresServer,
  type TeamPlace,
  type TempDir,
} from '#testing'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let server: PostgresServer
let place: TeamPlace
let dir: TempDir
let opened: LocalThroughline[] = []

beforeAll(async () => {
  server = await openPostgresServer()
})
afterAll(() => server?.close())
beforeEach(async () => {
  dir = await openTempDir()
  opened = []
  place = await openTeamPlace(server, { admin: { person: 'ada', machine: 'desk' } })
})
afterEach(async () => {
  for (const one of opened) await one.close()
  await dir.remove()
})

const claudeOf = (name: string): string => join(dir.path, name, 'claude')

async function open(name: string, store: PostgresAddress): Promise<LocalThroughline> {
  await mkdir(claudeOf(name), { recursive: true })
  const throughline = await openThroughline({
    env: { HOME: join(dir.path, name) },
    config: { home: join(dir.path, name, 'home'), claudeDir: claudeOf(name), store },
    index: true,
  })
  opened.push(throughline)
  return throughline
}

test('[TEA66] [TEA75] what one machine says and shares is found, heard of and remembered on another', async () => {
  const bob = await place.addMachine({ person: 'bob', machine: 'tower' })
  const id = '0c0ffee0-0000-4000-8000-00000000000a'
  const lines = createLines({ sessionId: id, cwd: '/home/ada/shop' })
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const path = await writeTranscript(
    claudeOf('a'),
    toJsonl([
      lines.prompt('Where is the marmot?'),
      lines.reply([{ type: 'text', text: `Marmot ${secret} sleeps.` }]),
    ]),
    { id },
  )
  const [a, b] = [await open('a', place.admin), await open('b', bob)]
  await a.settled()
  // Nothing is shared yet.
  const found = async (): Promise<readonly string[]> =>
    (await b.search({ q: 'marmot' })).hits.map(
      ({ session, snippet }) => `${session.origin?.person}: ${snippet.text}`,
    )
  await expect.poll(async () => (await b.search({ q: 'marmot' })).team, { timeout: 30_000 }).toBe('searched')
  expect(await found()).toEqual([])
  const book = await openTeamBook({ address: place.admin, most: 1 })
  await book.share({ kind: 'everything', with: 'everybody' })
  await book.close()
  await expect.poll(found, { timeout: 30_000 }).toHaveLength(2)
  expect((await found()).join('\n')).not.toContain(secret.slice(4, 20))
  const [hit] = (await b.search({ q: 'marmot sleeps' })).hits
  expect(hit?.session).toMatchObject({ id, origin: { machine: 'desk', person: 'ada', mine: false } })
  const page = await b.page(await b.get(id), { before: hit?.entry.cursor ?? '', limit: 10 })
  expect(JSON.stringify(page)).toContain('Where is the marmot?')

  // What others said is found when one looks for it, and is not what one remembers.
  expect((await b.memory.recall({ question: 'Where does the marmot sleep?' })).hits).toEqual([])
  expect((await a.memory.recall({ question: 'Where does the marmot sleep?' })).hits).not.toEqual([])

  const heard: string[] = []
  const subscription = b.subscribe(
    { kind: 'query', q: 'badger' },
    {
      onEvent(event) {
        if (event.kind === 'hit.found') heard.push(event.hit.snippet.text)
        else heard.push(event.kind)
      },
    },
  )
  await expect.poll(() => heard, { timeout: 30_000 }).toEqual(['caught-up', 'caught-up'])
  await appendFile(path, toJsonl([lines.reply([{ type: 'text', text: 'A badger came.' }])]))
  await expect.poll(() => heard, { timeout: 30_000 }).toContain('A badger came.')
  subscription.close()

  const known = await a.memory.remember({ content: 'Marmots sleep until spring.', scope: 'team' })
  if (known.kind !== 'remembered') throw new Error(known.kind)
  await a.memory.remember({ content: 'Only I know of the badger.' })
  const said = async (): Promise<readonly string[]> =>
    (await b.memory.query({ type: 'learning', state: ['active', 'quarantined'] })).map(
      ({ content, elsewhere }) => `${elsewhere?.person}: ${content}`,
    )
  await expect.poll(said, { timeout: 30_000 }).toEqual(['ada: Marmots sleep until spring.'])
  expect((await b.memory.wakeUp({ workdir: dir.path })).text).not.toContain('Marmots')
  await b.memory.act(`${known.document.id}@ada`, { do: 'approve' })
  const { text, receipt } = await b.memory.wakeUp({ workdir: dir.path })
  expect(text).toContain('(from ada) Marmots sleep until spring.')
  expect(receipt.documents).toMatchObject([{ author: 'ada', machine: 'desk' }])
  await a.memory.act(known.document.id, { do: 'share', scope: 'private' })
  await expect.poll(said, { timeout: 30_000 }).toEqual([])
  expect((await a.usage({ by: 'model', machines: 'mine' })).machines).toBe('mine')
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

test('[FLT54] [TEA70] a document changed on two machines while the database is away is shown alike on both, until one decides', async () => {
  const laptop = await place.addMachine({ person: 'ada', machine: 'laptop' })
  const [a, b] = [await open('a', place.admin), await open('b', laptop)]
  const made = await a.memory.remember({ content: 'The port is 1.' })
  if (made.kind !== 'remembered') throw new Error(made.kind)
  const { id } = made.document
  const saysOf = async (one: LocalThroughline): Promise<string | undefined> =>
    (await one.memory.get(id).catch(() => undefined))?.content
  await expect.poll(() => saysOf(b), { timeout: 60_000 }).toBe('The port is 1.')
  await letIn('nobody')
  await a.memory.edit(id, { content: 'The port is 2.' })
  await b.memory.edit(id, { content: 'The port is 3.' })
  expect([await saysOf(a), await saysOf(b)]).toEqual(['The port is 2.', 'The port is 3.'])
  await letIn('everybody')
  const sidesOf = async (one: LocalThroughline): Promise<readonly string[]> =>
    ((await one.memory.get(id)).conflict ?? []).map(({ key, isShown }) => `${key} ${isShown}`)
  await expect.poll(() => sidesOf(a), { timeout: 60_000 }).toHaveLength(2)
  await expect.poll(() => sidesOf(b), { timeout: 60_000 }).toEqual(await sidesOf(a))
  expect(await saysOf(a)).toBe(await saysOf(b))
  expect((await b.memory.versions(id)).map(({ document }) => document.content).toSorted()).toEqual([
    'The port is 1.',
    'The port is 2.',
    'The port is 3.',
  ])
  await b.memory.edit(id, { content: 'The port is 4.' })
  await expect.poll(() => saysOf(a), { timeout: 60_000 }).toBe('The port is 4.')
  expect([await sidesOf(a), await sidesOf(b)]).toEqual([[], []])
})
