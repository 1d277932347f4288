import { ThroughlineError } from '#base'
import { toPostgresAddress, type PostgresAddress } from './address.ts'
import { toColumn } from './column-text.ts'
import { openConnections, SCHEMA, type ConnectionOptions, type Connections } from './connection.ts'
import { migrate } from './migrations.ts'
import { createPassword, toScramVerifier } from './scram.ts'

export interface TeamInit extends ConnectionOptions {
  /** Of the database's owner, who may make logins. */
  readonly address: PostgresAddress
  readonly team: string
  /** The first admin, and what his machine is called. */
  readonly person: string
  readonly machine: string
}

/** What a build finds counts down from here, what happens counts up. */
const FIRST_NUMBER = 2 ** 40

/**
 * Starts a team in a database: makes the tables where there are none, and the first admin with his machine. Gives the
 * address of that machine; its password is shown nowhere else. Refused where there is a team of this name.
 */
export async function initTeam(init: TeamInit): Promise<PostgresAddress> {
  return await asOwner(init, async (connections) => {
    const password = createPassword()
    const [made] = await connections.query<{ login_name: string }>(
      'SELECT login_name FROM own_make_team($1, $2, $3, $4, $5)',
      [
        toColumn(init.team),
        toColumn(init.person),
        toColumn(init.machine),
        toScramVerifier(password),
        FIRST_NUMBER,
      ],
    )
    return withLogin(init.address, made?.login_name ?? '', password)
  })
}

/** Brings the tables of a database to where this version has them. For the owner of the database. */
export async function updateTeamTables(options: ConnectionOptions): Promise<void> {
  await asOwner(options, () => Promise.resolve())
}

async function asOwner<T>(
  options: ConnectionOptions,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  const { schema = SCHEMA } = options
  const connections = await openConnections(options)
  try {
    await migrate(connections, schema)
    const [owner] = await connections.query<{ name: string; owns: boolean }>(
      `SELECT r.rolname AS name, r.rolname = current_user OR s.rolsuper AS owns
       FROM pg_namespace AS n JOIN pg_roles AS r ON r.oid = n.nspowner, pg_roles AS s
       WHERE n.nspname = $1 AND s.rolname = current_user`,
      [schema],
    )
    if (owner?.owns === true) return await work(connections)
    throw new ThroughlineError(
      'database-refused',
      `the tables of ${options.address.shown} belong to ${owner?.name ?? 'nobody'}`,
      {
        hint: 'Give the address of that user: only the owner of the tables may start a team.',
      },
    )
  } finally {
    await connections.close()
  }
}

/** The same database, entered by another. */
export function withLogin(address: PostgresAddress, login: string, password: string): PostgresAddress {
  const url = new URL(address.reveal())
  url.username = encodeURIComponent(login)
  url.password = encodeURIComponent(password)
  return toPostgresAddress(url.href)
}
