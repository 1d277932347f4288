import { randomUUID } from 'node:crypto'
import { ThroughlineError } from '#base'
import { quoted, type Connection, type Connections } from './connection.ts'
import { INDEX_TABLES } from './index-tables.ts'
import { LOG_TABLES } from './log-tables.ts'

interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
}

/** What was done to the tables, in order. One that was released is never changed; another one follows it. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'the index', sql: INDEX_TABLES },
  { number: 2, name: 'the shared log', sql: LOG_TABLES },
]

const NEWEST: number = MIGRATIONS.length
/** Any number, as long as all of us have the same. The lock is one for the database: extensions are, too. */
const LOCK = 7_205_759_403
const LOCK_MS = 60_000

/**
 * Brings the tables to where this version has them. Whoever comes first does it, everybody else waits; all of it or
 * nothing. Tables of a newer version are refused.
 */
export async function migrate(connections: Connections, schema: string): Promise<void> {
  const before = await versionOf(connections, schema)
  if (before === NEWEST) return
  // No lock for what is refused anyway: it may be a database that only others may write.
  if (before > NEWEST) throw toNewer(before, connections.address.shown)
  await connections.transact(async (connection) => {
    // Building an index over years of sessions takes as long as it takes.
    await connection.run('SET LOCAL statement_timeout = 0')
    await connection.run(`SET LOCAL lock_timeout = ${LOCK_MS}`)
    await connection.run('SELECT pg_advisory_xact_lock($1)', [LOCK])
    const version = await versionOf(connection, schema)
    if (version === NEWEST) return
    if (version > NEWEST) throw toNewer(version, connections.address.shown)
    if (version === 0) await prepare(connection, schema)
    for (const migration of MIGRATIONS.slice(version)) {
      await connection.run(migration.sql)
      await connection.run('INSERT INTO migration (number, name) VALUES ($1, $2)', [
        migration.number,
        migration.name,
      ])
    }
    if (version < 1) {
      await connection.run('INSERT INTO index_state (id, epoch, lowest, highest) VALUES (1, $1, $2, $3)', [
        randomUUID(),
        FIRST_NUMBER,
        FIRST_NUMBER - 1,
      ])
    }
  })
}

/** What a build finds counts down from here, what happens counts up. */
const FIRST_NUMBER = 2 ** 40

/** The number of the last migration; 0 where nothing is yet. */
async function versionOf(connection: Connection, schema: string): Promise<number> {
  // Not `to_regclass`: it believes what the connection has known of names since before it waited for the lock.
  const tables = await connection.query(
    `SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = 'migration'`,
    [schema],
  )
  if (tables.length === 0) return 0
  const [row] = await connection.query<{ number: number }>(
    'SELECT coalesce(max(number), 0)::int AS number FROM migration',
  )
  return row?.number ?? 0
}

async function prepare(connection: Connection, schema: string): Promise<void> {
  const [row] = await connection.query<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  )
  if (row?.encoding !== 'UTF8') {
    throw new ThroughlineError('database-refused', `the database is in ${row?.encoding ?? 'no encoding'}`, {
      hint: "Create one with ENCODING 'UTF8' TEMPLATE template0.",
    })
  }
  await connection.run(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`)
  await connection.run('CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public')
  await connection.run(`
    CREATE TABLE migration (
      number integer PRIMARY KEY,
      name text NOT NULL,
      applied timestamptz NOT NULL DEFAULT now()
    )`)
}

function toNewer(version: number, shown: string): ThroughlineError {
  return new ThroughlineError(
    'database-newer',
    `the database ${shown} is of version ${version}, this Throughline knows ${NEWEST}`,
    { hint: 'Update Throughline on this machine. Nothing was changed.' },
  )
}
