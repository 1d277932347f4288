import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  expectError,
  openPostgresServer,
  openTeamPlace,
  runs,
  type PostgresServer,
  type TeamPlace,
} from '#testing'
import type { PostgresAddress } from './address.ts'
import { openTeamBook } from './open-team-book.ts'
import { openTeamLog } from './open-team-log.ts'
import type { TeamBook } from './team-book.ts'
import type { LogFile, LogLine, NumberedLine, TeamLog } from './team-log.ts'

let server: PostgresServer
let url: string

beforeAll(async () => {
  server = await openPostgresServer()
  url = await server.createDatabase()
})
afterAll(() => server?.close())

let teams = 0
const newTeam = (): string => `team-${++teams}`

/** Teams of one database, and the machines in them: each is made when it is first named. */
const places = new Map<string, Promise<TeamPlace>>()
const machines = new Map<string, Promise<PostgresAddress>>()

async function addressOf(team: string, person: string): Promise<PostgresAddress> {
  const place = places.get(team) ?? openTeamPlace(server, { url, team, admin: { person: 'boss' } })
  places.set(team, place)
  const key = `${team} ${person}`
  const machine = machines.get(key) ?? place.then((of) => of.addMachine({ person }))
  machines.set(key, machine)
  return await machine
}

const openLog = async (team: string, person = 'ada'): Promise<TeamLog> =>
  openTeamLog({ address: await addressOf(team, person), most: 6 })

const openBook = async (team: string, person = 'ada'): Promise<TeamBook> =>
  openTeamBook({ address: await addressOf(team, person) })

const fileOf = (identity: string, fields: Partial<LogFile> = {}): LogFile => ({
  identity,
  kind: 'transcript',
  path: `/home/ada/${identity}.jsonl`,
  session: identity,
  workdir: '/work/shop',
  scope: 'private',
  ...fields,
})

/** Lines of a file, one behind the other. */
function linesOf(file: number, texts: readonly (string | Buffer)[], from = 0): readonly LogLine[] {
  let offset = from
  return texts.map((text) => {
    const bytes = Buffer.from(text)
    const line = { file, offset, bytes }
    offset += bytes.length
    return line
  })
}

/** Everything there is, read by number. */
async function readAll(log: TeamLog): Promise<readonly NumberedLine[]> {
  const all: NumberedLine[] = []
  for (let after = 0; ;) {
    const { lines, next, more } = await log.readAfter(after)
    all.push(...lines)
    if (!more) return all
    after = next
  }
}

const placesOf = (lines: readonly NumberedLine[]): readonly string[] =>
  lines.map(({ file, offset }) => `${file}:${offset}`)

test('[TEA4] [FLT29] lines of any bytes come back as they were, from pages of any size and by number', async () => {
  const log = await openLog(newTeam())
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 2000 }),
      async (texts, bytes) => {
        const file = await log.putFile(fileOf(`f-${randomBytes(6).toString('hex')}`))
        const lines = linesOf(
          file,
          texts.map((text) => Buffer.from(text)),
        )
        const after = await log.newest()
        expect(await log.append(lines)).toEqual({ added: lines.length })
        const paged: Buffer[] = []
        for (let from: number | undefined = 0; from !== undefined;) {
          const page = await log.readPage({ file, from, bytes })
          paged.push(...page.lines.flatMap((line) => line.bytes ?? []))
          from = page.next
        }
        const whole = Buffer.concat(lines.map((line) => line.bytes))
        expect(Buffer.concat(paged).equals(whole)).toBe(true)
        const { lines: news } = await log.readAfter(after)
        expect(Buffer.concat(news.flatMap((line) => line.bytes ?? [])).equals(whole)).toBe(true)
      },
    ),
    runs(20),
  )
  await log.close()
})

test('[TEA4] [FLT29] what is said of a file survives zeros and half characters', async () => {
  const log = await openLog(newTeam(), 'ad\u0000a\uD800')
  const odd = fileOf('i\u0000\uDC00', { path: '/w\uFDD0\u0000\uD83D', session: '\uD800s', agent: 'claude' })
  const number = await log.putFile(odd)
  expect(await log.findFile(number)).toMatchObject({ ...odd, number, owner: 'ad\u0000a\uD800' })
  expect(await log.putFile(odd)).toBe(number)
  await log.close()
})

test('[TEA5] whatever is sent again, at once or later, in whatever pieces: every line is there once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(29), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 8 }),
      async (sends) => {
        const team = newTeam()
        const [one, two] = await Promise.all([openLog(team), openLog(team)])
        const file = await one.putFile(fileOf('f'))
        const lines = linesOf(
          file,
          Array.from({ length: 40 }, (_, n) => `line ${n}\n`),
        )
        const sent = sends.map(([from, count]) => lines.slice(from, from + count))
        const added = await Promise.all(sent.map((some, n) => (n % 2 === 0 ? one : two).append(some)))
        const expected = new Set(sent.flat().map(({ offset }) => `${file}:${offset}`))
        const found = await readAll(one)
        expect(placesOf(found).toSorted()).toEqual([...expected].toSorted())
        expect(new Set(found.map(({ number }) => number)).size).toBe(found.length)
        expect(added.reduce((sum, each) => sum + each.added, 0)).toBe(found.length)
        await Promise.all([one.close(), two.close()])
      },
    ),
    runs(10),
  )
})

test('[TEA5] the same place with other bytes is another line, and a page has what came last', async () => {
  const log = await openLog(newTeam())
  const file = await log.putFile(fileOf('f'))
  await log.append(linesOf(file, ['old\n']))
  expect(await log.append(linesOf(file, ['new\n']))).toEqual({ added: 1 })
  expect(await readAll(log)).toHaveLength(2)
  const { lines } = await log.readPage({ file, from: 0, bytes: 100 })
  expect(lines.map(({ bytes }) => bytes?.toString())).toEqual(['new\n'])
  await log.close()
})

test('[TEA4] [TEA5] a file of many lines, some of them written twice, is read page by page', async () => {
  const log = await openLog(newTeam())
  const file = await log.putFile(fileOf('f'))
  const lines = linesOf(
    file,
    Array.from({ length: 1300 }, (_, n) => `${n}\n`),
  )
  await log.append(
    lines.map((line) => ({ ...line, bytes: Buffer.from(line.bytes.toString().replace(/\d/g, '_')) })),
  )
  await log.append(lines)
  for (const bytes of [1, 100, 1e6]) {
    let text = ''
    for (let from: number | undefined = 0; from !== undefined && text.length < 1e5;) {
      const page = await log.readPage({ file, from, bytes })
      expect(page.lines.length).toBeGreaterThan(0)
      text += page.lines.map((line) => line.bytes?.toString()).join('')
      from = bytes === 1 && text.length > 200 ? undefined : page.next
    }
    const whole = lines.map((line) => line.bytes.toString()).join('')
    expect(text).toBe(whole.slice(0, bytes === 1 ? text.length : whole.length))
  }
  await log.close()
})

test('[TEA6] while many write, a reader that goes on from where it was misses nothing', async () => {
  const team = newTeam()
  const logs = await Promise.all(Array.from({ length: 5 }, (_, n) => openLog(team, `p${n}`)))
  const reader = await openLog(team, 'reader')
  const sent: string[] = []
  let isOver = false
  const writing = Promise.all(
    logs.map(async (log, n) => {
      const file = await log.putFile(fileOf(`f${n}`, { scope: 'team' }))
      for (let batch = 0; batch < 30; batch++) {
        // Of different sizes, so that the one that began first is not the first to end.
        const lines = linesOf(
          file,
          Array.from({ length: 1 + ((batch * 7 + n) % 40) }, () => 'x'.repeat(50)),
          batch * 1e6,
        )
        await log.append(lines)
        sent.push(...lines.map(({ offset }) => `${file}:${offset}`))
      }
    }),
  ).finally(() => (isOver = true))
  const seen: NumberedLine[] = []
  for (let after = 0; ;) {
    const wasOver = isOver
    const { lines, next, more } = await reader.readAfter(after)
    seen.push(...lines)
    after = next
    if (wasOver && !more) break
  }
  await writing
  expect(placesOf(seen).toSorted()).toEqual(sent.toSorted())
  const numbers = seen.map(({ number }) => number)
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  await Promise.all([...logs, reader].map((log) => log.close()))
})

test('[TEA6] a number that somebody holds and has not committed keeps all higher ones back', async () => {
  const team = newTeam()
  const log = await openLog(team)
  const file = await log.putFile(fileOf('f'))
  const slow = new Client({ connectionString: url })
  await slow.connect()
  await slow.query('SET search_path = throughline')
  await slow.query('BEGIN')
  await slow.query(
    'UPDATE team_clock SET last = last + 1 WHERE team = (SELECT id FROM team WHERE name = $1)',
    [team],
  )
  let isAppended = false
  const appending = log.append(linesOf(file, ['later\n'])).then(() => (isAppended = true))
  await eventually(async () => {
    const { rows } = await slow.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    if (rows.length === 0) throw new Error('nobody waits')
  })
  expect(isAppended).toBe(false)
  expect((await log.readAfter(0)).lines).toEqual([])
  await slow.query('COMMIT')
  await appending
  expect((await log.readAfter(0)).lines.map(({ number }) => number)).toEqual([2])
  await slow.end()
  await log.close()
})

test('[TEA7] a line too long for a page is stored once for all who have it, and read in pieces', async () => {
  const team = newTeam()
  const [ada, bob] = [await openLog(team), await openLog(team, 'bob')]
  const long = randomBytes(2_600_000)
  const files = [await ada.putFile(fileOf('a')), await bob.putFile(fileOf('b'))]
  await ada.append(linesOf(files[0] ?? 0, ['short\n', long, 'end\n']))
  await bob.append(linesOf(files[1] ?? 0, [long]))
  const { lines } = await ada.readPage({ file: files[0] ?? 0, from: 0, bytes: 1000 })
  expect(lines.map(({ length, bytes }) => [length, bytes?.toString()])).toEqual([
    [6, 'short\n'],
    [2_600_000, undefined],
    [4, 'end\n'],
  ])
  const pieces: Buffer[] = []
  for await (const piece of ada.readLine(files[0] ?? 0, 6)) pieces.push(piece)
  expect(pieces.length).toBeGreaterThan(1)
  expect(Buffer.concat(pieces).equals(long)).toBe(true)
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    'SELECT count(*)::int AS blobs FROM throughline.blob WHERE team = (SELECT id FROM throughline.team WHERE name = $1)',
    [team],
  )
  expect(rows).toEqual([{ blobs: 1 }])
  await client.end()
  await Promise.all([ada.close(), bob.close()])
})

test('[TEA8] what is private is there for its owner alone; shares open it and close it again', async () => {
  const team = newTeam()
  const [ada, bob, eve] = [await openLog(team), await openLog(team, 'bob'), await openLog(newTeam(), 'eve')]
  const files = {
    private: await ada.putFile(fileOf('private')),
    workdir: await ada.putFile(fileOf('workdir', { scope: 'workdir' })),
    team: await ada.putFile(fileOf('team', { scope: 'team' })),
  }
  await bob.putFile(fileOf('bobs', { workdir: '/work/shop' }))
  for (const file of Object.values(files)) await ada.append(linesOf(file, [`secret ${file}\n`]))

  async function seenBy(log: TeamLog): Promise<readonly string[]> {
    const seen: string[] = []
    const news = placesOf(await readAll(log))
    for (const [name, file] of Object.entries(files)) {
      const isThere = (await log.findFile(file)) !== undefined
      // Every way of asking says the same.
      expect(news.includes(`${file}:0`)).toBe(isThere)
      const page = log.readPage({ file, from: 0, bytes: 100 })
      if (isThere) expect((await page).lines).toHaveLength(1)
      else {
        await expectError(page, 'session-not-found')
        await expectError(log.readLine(file, 0)[Symbol.asyncIterator]().next(), 'session-not-found')
      }
      await (log === ada ? undefined : expectError(log.append(linesOf(file, ['mine\n'], 99)), 'not-allowed'))
      if (isThere) seen.push(name)
    }
    return seen
  }

  expect(await seenBy(ada)).toEqual(['private', 'workdir', 'team'])
  expect(await seenBy(bob)).toEqual(['team'])
  expect(await seenBy(eve)).toEqual([])
  const [adas, bobs] = [await openBook(team), await openBook(team, 'bob')]
  const shared = { kind: 'session', session: 'private', with: { person: 'bob' } } as const
  const folder = { kind: 'workdir', workdir: '/work/shop', with: 'everybody' } as const
  await adas.share(shared)
  await bobs.share(folder)
  expect(await seenBy(bob)).toEqual(['private', 'team'])
  await adas.share(folder)
  expect(await seenBy(bob)).toEqual(['private', 'workdir', 'team'])
  expect(await seenBy(eve)).toEqual([])
  await adas.unshare(shared)
  await adas.unshare(folder)
  expect(await seenBy(bob)).toEqual(['team'])
  await adas.share({ kind: 'everything', with: { person: 'bob' } })
  expect(await seenBy(bob)).toEqual(['private', 'workdir', 'team'])
  await Promise.all([ada, bob, eve, adas, bobs].map((each) => each.close()))
})

test('[TEA9] who listens is told of everything once, though notifications and the connection are lost', async () => {
  const team = newTeam()
  const [writer, reader] = [await openLog(team), await openLog(team, 'bob')]
  const file = await writer.putFile(fileOf('f', { scope: 'team' }))
  const told: number[] = []
  const listening = reader.listen({
    after: 0,
    pollMs: 200,
    onNews: ({ lines }) => {
      told.push(...lines.map(({ offset }) => offset))
    },
  })
  const client = new Client({ connectionString: url })
  await client.connect()
  for (let n = 0; n < 30; n++) {
    await writer.append(linesOf(file, [`${n}\n`], n * 10))
    if (n % 10 === 5) {
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    }
  }
  await expect.poll(() => told.length).toBe(30)
  expect(told).toEqual(Array.from({ length: 30 }, (_, n) => n * 10))
  await listening.close()
  await client.end()
  await Promise.all([writer.close(), reader.close()])
})
