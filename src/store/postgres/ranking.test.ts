import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  advance,
  entryRow,
  findAll,
  openPostgresServer,
  openTeamPlace,
  openTempDir,
  runs,
  type PostgresServer,
} from '#testing'
import { openSqliteStore } from '../sqlite/open.ts'
import type { PostgresAddress } from './address.ts'
import { openPostgresStore } from './open.ts'

let server: PostgresServer
let url: string

beforeAll(async () => {
  server = await openPostgresServer()
  url = await server.createDatabase()
})
afterAll(() => server?.close())

/** Each place is a team of the same database. */
async function teamOf(place: number): Promise<PostgresAddress> {
  const admin = { person: 'ada', origin: 'here' }
  return (await openTeamPlace(server, { url, team: `team-${place}`, admin })).admin
}

const WORDS = ['red', 'green', 'blue', 'parseLine', 'parse_line', 'Grün', 'lemon', 'tree', 'x9', '日本']
const QUERIES = [
  'red',
  'red green',
  'red OR lemon',
  '"green blue"',
  'gre*',
  'red -blue',
  'parseLine',
  'line OR tree lemon',
  'x9 in:said',
  'lemon kind:prompt',
  '日本',
]

test('[TEA12] SQLite and PostgreSQL find the same, in the same order', async () => {
  const dir = await openTempDir()
  let places = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 25 }), fc.nat(2)), {
        minLength: 5,
        maxLength: 40,
      }),
      async (texts) => {
        const place = ++places
        const stores = [
          openSqliteStore({ path: join(dir.path, `${place}.db`) }),
          await openPostgresStore({ address: await teamOf(place) }),
        ]
        const rows = texts.map(([words, tier], offset) =>
          entryRow({ [['said', 'thought', 'tool'][tier] ?? 'said']: words.join(' ') }, { offset }),
        )
        const found = []
        for (const store of stores) {
          await store.apply([advance('a', rows)])
          const told = []
          for (const q of QUERIES) {
            const hits = await findAll(store, q, 13)
            told.push([q, hits.map(({ where, offset }) => `${where} ${offset}`)])
          }
          found.push(told)
          await store.close()
        }
        expect(found[1]).toEqual(found[0])
      },
    ),
    runs(10),
  )
  await dir.remove()
}, 120_000)
