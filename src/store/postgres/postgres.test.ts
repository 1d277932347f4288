import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  describeStore,
  openPostgresServer,
  openTeamPlace,
  type PostgresServer,
  type TeamPlace,
} from '#testing'
import { openPostgresStore } from './open.ts'

let server: PostgresServer
let url: string

beforeAll(async () => {
  server = await openPostgresServer()
  url = await server.createDatabase()
})
afterAll(() => server.close())

/** Every place has a team of its own in one database, and is asked through the login of a machine. */
const places = new Map<string, Promise<TeamPlace>>()

function placeOf(team: string): Promise<TeamPlace> {
  const place =
    places.get(team) ?? openTeamPlace(server, { url, team, admin: { person: 'ada', origin: 'here' } })
  places.set(team, place)
  return place
}

describe('[TEA1] [STO1] [STO2] [STO3] [STO4] [STO5] [STO6] [STO7] [STO8] [STO9] [STO10] [STO11] [STO12] a store', () => {
  describeStore(
    { afterAll, beforeAll, describe, expect, test },
    {
      name: 'in PostgreSQL',
      runs: 20,
      open: async (place) => openPostgresStore({ address: (await placeOf(place)).admin }),
    },
  )
})
