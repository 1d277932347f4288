import { initTeam, openTeamBook, toPostgresAddress, type PostgresAddress } from '#store'
import type { TeamRole } from '#model'
import type { PostgresServer } from './postgres-server.ts'

/** A database with a team in it. */
export interface TeamPlace {
  /** Of the database's owner, who is in no team. */
  readonly url: string
  readonly team: string
  /** The machine of the first admin. */
  readonly admin: PostgresAddress
  /** A machine that has joined: of somebody new, or a further one of somebody who is there. */
  addMachine(machine: AddedMachine): Promise<PostgresAddress>
  /** Says SQL as the owner of the database, whom no policy holds back. */
  say<Row extends object = object>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

export interface AddedMachine {
  readonly person: string
  readonly role?: TeamRole | undefined
  readonly machine?: string | undefined
  /** What names the machine for good; not given: as the database names it. */
  readonly origin?: string | undefined
}

interface TeamPlaceOptions {
  /** A database that is there already; not given: a new one. */
  readonly url?: string | undefined
  readonly schema?: string | undefined
  readonly team?: string | undefined
  readonly admin?: Omit<AddedMachine, 'role'> | undefined
}

/** Starts a team in a new database of a server. What is asked of it is asked through the logins of its machines. */
export async function openTeamPlace(
  server: PostgresServer,
  options: TeamPlaceOptions = {},
): Promise<TeamPlace> {
  const { schema = 'throughline', team = 'team', admin = { person: 'ada' } } = options
  const url = options.url ?? (await server.createDatabase())
  const address = toPostgresAddress(url)

  async function say<Row extends object>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<readonly Row[]> {
    const { Client } = await import('pg')
    const client = new Client({ connectionString: url, options: `-c search_path="${schema}",public` })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(sql, [...values])).rows
    } finally {
      await client.end()
    }
  }

  async function rename(machine: PostgresAddress, origin: string | undefined): Promise<PostgresAddress> {
    if (origin === undefined) return machine
    await say(
      `UPDATE origin SET key = $1 FROM login
       WHERE login.name = $2 AND origin.team = login.team AND origin.id = login.origin`,
      [origin, new URL(machine.reveal()).username],
    )
    return machine
  }

  const first = await initTeam({
    address,
    schema,
    team,
    person: admin.person,
    machine: admin.machine ?? `${admin.person}'s machine`,
  })
  await rename(first, admin.origin)
  return {
    url,
    team,
    admin: first,
    say,
    async addMachine({ person, role, machine = `${person}'s machine`, origin }) {
      const book = await openTeamBook({ address: first, schema, most: 1 })
      const invited = await book.invite({ person, role })
      await book.close()
      const entering = await openTeamBook({ address: invited.address, schema, most: 1 })
      const joined = await entering.join(machine)
      await entering.close()
      return await rename(joined, origin)
    },
  }
}
