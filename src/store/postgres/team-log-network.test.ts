import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  expectError,
  openPostgresServer,
  openTcpProxy,
  openTeamPlace,
  type PostgresServer,
  type TcpProxy,
  type TeamPlace,
} from '#testing'
import { toPostgresAddress } from './address.ts'
import { openTeamLog } from './open-team-log.ts'
import type { LogLine, TeamLog } from './team-log.ts'

let server: PostgresServer
let place: TeamPlace
let url: string
let proxy: TcpProxy
let log: TeamLog
let file: number

beforeAll(async () => {
  server = await openPostgresServer()
})
afterAll(() => server?.close())

beforeEach(async () => {
  place = await openTeamPlace(server)
  url = place.url
  proxy = await openTcpProxy(server.port)
  log = await open()
  file = await log.putFile({ identity: 'f', kind: 'journal', path: '/f', scope: 'private' })
})
afterEach(async () => {
  await log.close()
  await proxy.close()
})

function open(most = 4): Promise<TeamLog> {
  const through = new URL(place.admin.reveal())
  through.hostname = '127.0.0.1'
  through.port = String(proxy.port)
  const address = toPostgresAddress(through.href)
  return openTeamLog({ address, most, statementMs: 1500, connectMs: 500 })
}

const batch = (n: number): readonly LogLine[] =>
  Array.from({ length: 3 }, (_, line) => ({
    file,
    offset: n * 100 + line,
    bytes: Buffer.from(`${n} ${line}\n`),
  }))

async function countLines(): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM throughline.log_line',
  )
  await client.end()
  return rows[0]?.count ?? -1
}

test('[TEA13] an answer that is lost leaves open whether it was committed; sent again, it is there once', async () => {
  let lost = 0
  for (let n = 0; n < 20; n++) {
    if (n % 2 === 0) proxy.cutAtNextAnswer()
    for (let isTaken = false; !isTaken;) {
      isTaken = await log.append(batch(n)).then(
        () => true,
        () => {
          lost++
          return false
        },
      )
    }
  }
  expect(lost).toBeGreaterThan(0)
  expect(await countLines()).toBe(60)
})

test('[TEA13] a connection that is silent is given up in time, and the next one works', async () => {
  await log.append(batch(1))
  proxy.fallSilent()
  await expectError(log.append(batch(2)), 'database-unreachable')
  await expectError(log.newest(), 'database-unreachable')
  proxy.heal()
  await log.append(batch(2))
  expect(await countLines()).toBe(6)
})

test('[TEA13] a slow network makes it slow and nothing else', async () => {
  proxy.delay(200)
  await log.append(batch(1))
  proxy.heal()
  expect(await countLines()).toBe(3)
})

test('[TEA13] one that became a standby says so, and takes it when it is none any more', async () => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const name = new URL(url).pathname.slice(1)
  const standby = async (is: 'on' | 'off'): Promise<void> => {
    await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${is}`)
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
    )
    await sleep(50)
  }
  await client.query('SET default_transaction_read_only = off')
  await standby('on')
  await expect
    .poll(() => log.append(batch(1)).catch((error: { code?: string }) => error.code))
    .toBe('database-read-only')
  await standby('off')
  await expect.poll(() => log.append(batch(1)).catch(() => undefined)).toEqual({ added: 3 })
  await client.end()
})

test('[TEA13] when all connections are in use the rest waits for its turn, and not for ever', async () => {
  const narrow = await open(1)
  const taken = await Promise.all(Array.from({ length: 20 }, (_, n) => narrow.append(batch(n))))
  expect(taken.reduce((sum, { added }) => sum + added, 0)).toBe(60)
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('BEGIN')
  await client.query('LOCK TABLE throughline.log_line IN ACCESS EXCLUSIVE MODE')
  const results = await Promise.allSettled([narrow.append(batch(50)), narrow.append(batch(51))])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await client.query('ROLLBACK')
  await client.end()
  await narrow.append([...batch(50), ...batch(51)])
  expect(await countLines()).toBe(66)
  await narrow.close()
})
