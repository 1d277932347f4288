import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeStore, openPostgresServer, type PostgresServer } from '#testing'
import { toPostgresAddress } from './address.ts'
import { openPostgresStore } from './open.ts'

let server: PostgresServer
let url: string

beforeAll(async () => {
  server = await openPostgresServer()
  url = await server.createDatabase()
})
afterAll(() => server.close())

/** Every place has a schema of its own. */
const schemaOf = (place: string): string => createHash('sha256').update(place).digest('hex').slice(0, 16)

describe('[TEA1] [STO1] [STO2] [STO3] [STO4] [STO5] [STO6] [STO7] [STO8] [STO9] [STO10] [STO11] [STO12] a store', () => {
  describeStore(
    { afterAll, beforeAll, describe, expect, test },
    {
      name: 'in PostgreSQL',
      runs: 20,
      open: (place) => openPostgresStore({ address: toPostgresAddress(url), schema: schemaOf(place) }),
    },
  )
})
