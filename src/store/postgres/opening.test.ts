import { createServer } from 'node:net'
import { once } from 'node:events'
import { inspect } from 'node:util'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ThroughlineError } from '#base'
import {
  advance,
  entryRow,
  expectError,
  fileRow,
  findAll,
  findPlaces,
  openPostgresServer,
  openTeamPlace,
  type PostgresServer,
} from '#testing'
import { toPostgresAddress } from './address.ts'
import { fromColumn, toColumn } from './column-text.ts'
import { initTeam, updateTeamTables } from './init-team.ts'
import { openPostgresStore } from './open.ts'
import type { Store } from '../store.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await openPostgresServer()
})
afterAll(() => server?.close())

const open = (url: string, fields: object = {}): Promise<Store> =>
  openPostgresStore({ address: toPostgresAddress(url), connectMs: 2000, ...fields })

/** A database with a team in it: the address of its owner, and that of a machine. */
async function newPlace(): Promise<{ readonly url: string; readonly machine: string }> {
  const { url, admin } = await openTeamPlace(server, { admin: { person: 'ada', origin: 'here' } })
  return { url, machine: admin.reveal() }
}

const init = (url: string, team = 'team'): Promise<unknown> =>
  initTeam({ address: toPostgresAddress(url), team, person: 'ada', machine: 'one', connectMs: 2000 })

async function say(url: string, ...all: readonly string[]): Promise<readonly object[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const rows: object[] = []
  for (const sql of all) rows.push(...(await client.query(sql)).rows)
  await client.end()
  return rows
}

describe('[TEA2] tables', () => {
  test('[TEA2] are made once, however many come first', async () => {
    const url = await server.createDatabase()
    await Promise.all(Array.from({ length: 6 }, (_, n) => init(url, `team-${n}`)))
    expect(await say(url, 'SELECT number FROM throughline.migration ORDER BY number')).toEqual(
      [1, 2, 3, 4].map((number) => ({ number })),
    )
    await updateTeamTables({ address: toPostgresAddress(url) })
  })

  test('[TEA2] of a newer version are refused and left alone', async () => {
    const { url, machine } = await newPlace()
    await say(url, "INSERT INTO throughline.migration VALUES (99, 'of tomorrow')")
    const before = await say(url, 'SELECT * FROM throughline.migration ORDER BY number')
    const error = await expectError(open(machine), 'database-newer')
    expect(error.hint).toMatch(/Update/)
    await expectError(init(url, 'another'), 'database-newer')
    expect(await say(url, 'SELECT * FROM throughline.migration ORDER BY number')).toEqual(before)
    await say(url, 'DELETE FROM throughline.migration WHERE number > 3')
    expect((await expectError(open(machine), 'database-refused')).hint).toMatch(/owner/)
  })

  test('[TEA2] that could not all be made are not there at all', async () => {
    const url = await server.createDatabase()
    // Something of another is in the way of the last table.
    await say(url, 'CREATE SCHEMA throughline', 'CREATE VIEW throughline.log_line AS SELECT 1')
    await expectError(init(url), 'database-failed')
    expect(await say(url, "SELECT relname FROM pg_class WHERE relname IN ('migration', 'entry')")).toEqual([])
    await say(url, 'DROP VIEW throughline.log_line')
    await init(url)
  })
})

describe('[TEA3] what is wrong with a database is said with what to do, and never with the password', () => {
  const SECRET = 'pa55-w0rd!'

  async function refusal(
    url: string,
    code: string,
    opening: (url: string) => Promise<unknown> = open,
  ): Promise<void> {
    const error = await expectError(opening(url), code)
    for (const shown of [
      inspect(error, { depth: 9 }),
      JSON.stringify(error),
      error.stack ?? '',
      error.message,
    ]) {
      expect(shown).not.toContain(SECRET)
      expect(shown).not.toContain(encodeURIComponent(SECRET))
    }
  }
  const withSecret = (url: string): URL => {
    const address = new URL(url)
    address.password = SECRET
    return address
  }

  test('[TEA3] the password is wrong', () => refusal(withSecret(server.url).href, 'database-refused'))

  test('[TEA3] there is no such database', async () => {
    const url = new URL(server.url)
    url.pathname = '/nothing-here'
    await refusal(url.href, 'database-refused')
  })

  test('[TEA3] nobody answers, or somebody who says nothing', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = silent.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const url = withSecret(server.url)
    url.port = String(port)
    await refusal(url.href, 'database-unreachable')
    silent.close()
    await refusal(url.href, 'database-unreachable')
    url.hostname = 'no-such-host.invalid'
    await refusal(url.href, 'database-unreachable')
  })

  test('[TEA3] it takes nothing in', async () => {
    const { url, machine } = await newPlace()
    const name = new URL(url).pathname.slice(1)
    await say(server.url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await expectError(open(machine), 'database-read-only')
    await expectError(init(url, 'another'), 'database-read-only')
  })

  test('[TEA3] the user may not make tables', async () => {
    const url = new URL(await server.createDatabase())
    await say(server.url, 'DROP ROLE IF EXISTS reader', `CREATE ROLE reader LOGIN PASSWORD '${SECRET}'`)
    url.username = 'reader'
    url.password = SECRET
    await refusal(url.href, 'database-refused', init)
    // He may make tables, and no logins.
    await say(server.url, `GRANT CREATE ON DATABASE "${url.pathname.slice(1)}" TO reader`)
    expect((await expectError(init(url.href), 'database-refused')).hint).toMatch(/CREATEROLE/)
    await say(
      server.url,
      `REVOKE CREATE ON DATABASE "${url.pathname.slice(1)}" FROM reader`,
      'DROP ROLE reader',
    )
  })

  test('[TEA3] a statement takes too long', async () => {
    const { url, machine } = await newPlace()
    const store = await open(machine, { statementMs: 300 })
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query('BEGIN')
    await client.query('LOCK TABLE throughline.index_state IN ACCESS EXCLUSIVE MODE')
    await expectError(store.newest(), 'database-failed')
    await client.query('ROLLBACK')
    expect(await store.newest()).toBeGreaterThan(0)
    await client.end()
    await store.close()
  })

  test('[TEA3] an address that is none is refused without being repeated', () => {
    for (const text of [
      `mysql://u:${SECRET}@h/db`,
      `postgres://u:${SECRET}@h`,
      `u:${SECRET}@h`,
      `postgres://u:${SECRET}%zz@h/d%zz`,
    ]) {
      expect(() => toPostgresAddress(text)).toThrow(ThroughlineError)
      expect(() => toPostgresAddress(text)).not.toThrow(SECRET)
    }
    const address = toPostgresAddress(
      `postgresql://ada:${encodeURIComponent(SECRET)}@db.example:5433/team?sslmode=disable`,
    )
    expect(address.shown).toBe('postgres://ada@db.example:5433/team')
    expect(`${inspect(address)} ${JSON.stringify(address)}`).not.toContain('pa55')
  })
})

test('[TEA3] connections that break while nobody uses them end nothing', async () => {
  const { url, machine } = await newPlace()
  const store = await open(machine)
  await store.newest()
  const name = new URL(url).pathname.slice(1)
  await say(server.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  await expect.poll(() => store.newest().catch(() => 0)).toBeGreaterThan(0)
  await store.close()
})

test('[TEA1] [FLT29] what is said of a file comes back as it was, zeros and half characters included', async () => {
  const store = await open((await newPlace()).machine)
  const file = fileRow('/p\u0000\uD800\uFDD0', {
    session: 's\uDC00',
    workdirs: ['/w\u0000\uD800'],
    fold: '"\uD800\u0000"',
    guard: '\uFDD00000',
  })
  await store.apply([advance(file, [entryRow('x', { tool: 'To\uD800ol' })])])
  expect(await store.files()).toEqual([file])
  await store.close()
  for (const text of ['', 'plain', '\uFDD0', '\uFDD00000', '\u0000\uD83D\uDE00\uD83D', '\uDE00\uD83D']) {
    expect(fromColumn(toColumn(text))).toBe(text)
  }
})

test('[TEA1] machines with the same paths do not touch what the other has', async () => {
  const place = await openTeamPlace(server, { admin: { person: 'ada', origin: 'one' } })
  const other = await place.addMachine({ person: 'ada', origin: 'two' })
  const [one, two] = [await open(place.admin.reveal()), await open(other.reveal())]
  await one.apply([advance(fileRow('a', { origin: 'one' }), [entryRow('lemon', { offset: 1 })])])
  await two.apply([advance(fileRow('a', { origin: 'two' }), [entryRow('lemon', { offset: 2 })])])
  expect((await one.files()).map(({ origin }) => origin)).toEqual(['one'])
  expect((await findPlaces(two, 'lemon')).toSorted()).toEqual(['a:1', 'a:2'])
  expect((await findAll(two, 'lemon')).map(({ origin = '' }) => origin).toSorted()).toEqual(['one', 'two'])
  const others = await open(other.reveal(), { finds: 'others' })
  expect(await findPlaces(others, 'lemon')).toEqual(['a:1'])
  await others.close()
  await two.apply([{ kind: 'move', from: 'a', to: 'b' }])
  await one.apply([
    { kind: 'forget', path: 'b' },
    advance(fileRow('a', { origin: 'one' }), [], { anew: true }),
  ])
  expect(await findPlaces(one, 'lemon')).toEqual(['b:2'])
  expect(await one.verify()).toEqual([])
  await Promise.all([one.close(), two.close()])
})
