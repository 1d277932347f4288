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
  type TempDir,
} from '#testing'
import type { Store } from '../store.ts'
import { openSqliteStore } from '../sqlite/open.ts'
import { openPostgresStore } from './open.ts'

let server: PostgresServer
let dir: TempDir
let postgres: Store

beforeAll(async () => {
  server = await openPostgresServer()
  dir = await openTempDir()
  const { admin } = await openTeamPlace(server, { admin: { person: 'ada', origin: 'here' } })
  postgres = await openPostgresStore({ address: admin })
})
afterAll(async () => {
  await postgres?.close()
  await server?.close()
  await dir?.remove()
})

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
  let cases = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 25 }), fc.nat(2)), {
        minLength: 5,
        maxLength: 40,
      }),
      async (texts) => {
        const rows = texts.map(([words, tier], offset) =>
          entryRow({ [['said', 'thought', 'tool'][tier] ?? 'said']: words.join(' ') }, { offset }),
        )
        // FTS5 keeps counting the length of deleted texts in its averages, so each case has a new file. A new team for
        // each case would take longer than everything else here.
        const sqlite = openSqliteStore({ path: join(dir.path, `${++cases}.db`) })
        const found = []
        for (const store of [sqlite, postgres]) {
          await store.apply([{ kind: 'forget', path: 'a' }, advance('a', rows)])
          const told = []
          for (const q of QUERIES) {
            const hits = await findAll(store, q, 13)
            told.push([q, hits.map(({ where, offset }) => `${where} ${offset}`)])
          }
          found.push(told)
        }
        await sqlite.close()
        expect(found[1]).toEqual(found[0])
      },
    ),
    runs(10),
  )
})
