import { createHash } from 'node:crypto'
import { string, ThroughlineError } from '#base'
import { POLICIES } from './access.ts'
import { quoted, type Connection, type Connections } from './connection.ts'
import { DESK_TABLES } from './desk-tables.ts'
import { INDEX_FUNCTIONS } from './index-functions.ts'
import { INDEX_TABLES } from './index-tables.ts'
import { LOG_FUNCTIONS } from './log-functions.ts'
import { LOG_TABLES } from './log-tables.ts'
import { PEOPLE_FUNCTIONS } from './people-functions.ts'
import { PEOPLE_TABLES } from './people-tables.ts'
import { SEARCH_FUNCTIONS } from './search-functions.ts'

interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
}

/** What was done to the tables, in order. One that was released is never changed; another one follows it. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'the index', sql: INDEX_TABLES },
  { number: 2, name: 'people and the shared log', sql: PEOPLE_TABLES + LOG_TABLES },
  {
    number: 3,
    name: 'who may do what',
    sql: PEOPLE_FUNCTIONS + LOG_FUNCTIONS + INDEX_FUNCTIONS + SEARCH_FUNCTIONS + POLICIES,
  },
  { number: 4, name: 'the desk', sql: DESK_TABLES },
]

const NEWEST: number = MIGRATIONS.length
/** Any number, as long as all of us have the same. The lock is one for the database: extensions are, too. */
const LOCK = 7_205_759_403
const LOCK_MS = 60_000

/**
 * Brings the tables to where this version has them, for the owner of a database. Whoever comes first does it, everybody
 * else waits; all of it or nothing. Tables of a newer version are refused.
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
    if (version === 0) await prepare(connection, { schema, shown: connections.address.shown })
    for (const migration of MIGRATIONS.slice(version)) {
      // From the third on there are functions: they find what is ours, and nothing that somebody else put beside it.
      if (migration.number >= 3) await connection.run(`SET LOCAL search_path = ${quoted(schema)}, pg_temp`)
      await connection.run(migration.sql)
      await connection.run('INSERT INTO migration (number, name) VALUES ($1, $2)', [
        migration.number,
        migration.name,
      ])
    }
    await connection.run(closed(schema))
  })
}

/** Refuses a database whose tables are not those of this version. Nothing is changed. */
export async function checkTables(connections: Connections, schema: string): Promise<void> {
  const { shown } = connections.address
  const version = await versionOf(connections, schema).catch((error: unknown) => {
    throw isForeign(error) ? toOutside(shown) : error
  })
  if (version === NEWEST) return
  if (version > NEWEST) throw toNewer(version, shown)
  if (version === 0) throw toOutside(shown)
  throw new ThroughlineError('database-refused', `the tables of ${shown} are of an older version`, {
    hint: 'Let the owner of the database run `throughline team update` with this version.',
  })
}

/** Not allowed to look: the login belongs to nobody of us. */
function isForeign(error: unknown): boolean {
  return error instanceof ThroughlineError && string(error.cause, 'code') === '42501'
}

function toOutside(shown: string): ThroughlineError {
  return new ThroughlineError('not-in-team', `there is no team for the login of ${shown}`, {
    hint: 'Start one with `throughline team init`, or ask an admin of a team for an invitation.',
  })
}

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
    `SELECT coalesce(max(number), 0)::int AS number FROM ${quoted(schema)}.migration`,
  )
  return row?.number ?? 0
}

async function prepare(
  connection: Connection,
  { schema, shown }: { readonly schema: string; readonly shown: string },
): Promise<void> {
  const [row] = await connection.query<{ encoding: string; database: string; may: boolean }>(
    `SELECT current_setting('server_encoding') AS encoding, current_database() AS database,
            rolsuper OR rolcreaterole AS may FROM pg_roles WHERE rolname = current_user`,
  )
  if (row?.encoding !== 'UTF8') {
    throw new ThroughlineError('database-refused', `the database is in ${row?.encoding ?? 'no encoding'}`, {
      hint: "Create one with ENCODING 'UTF8' TEMPLATE template0.",
    })
  }
  await connection.run(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`)
  if (!row.may) {
    throw new ThroughlineError('database-refused', `the user of ${shown} may not make logins`, {
      hint: 'Every machine gets a login of its own. Let an administrator of the server say: ALTER ROLE … CREATEROLE.',
    })
  }
  await connection.run('CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public')
  const group = `throughline_${createHash('sha256').update(`${row.database} ${schema}`).digest('hex').slice(0, 16)}`
  const there = await connection.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [group])
  if (there.length === 0) await connection.run(`CREATE ROLE ${quoted(group)} NOLOGIN`)
  await connection.run(`
    CREATE TABLE migration (
      number integer PRIMARY KEY,
      name text NOT NULL,
      applied timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE setting (name text PRIMARY KEY, value text NOT NULL);`)
  // All logins of the database's teams are in this group, and have their rights from it.
  await connection.run("INSERT INTO setting VALUES ('group', $1)", [group])
}

/**
 * Every table is closed but for what its policies open, and every function but for those in the team: also those that
 * somebody adds and forgets to say something of. Functions that begin with `own_` are for our other functions.
 */
function closed(schema: string): string {
  return `
    DO $body$
    DECLARE
      members text := (SELECT value FROM setting WHERE name = 'group');
      made record;
    BEGIN
      EXECUTE format('GRANT USAGE ON SCHEMA ${quoted(schema)} TO %I', members);
      FOR made IN SELECT c.oid::regclass AS name FROM pg_class AS c
        WHERE c.relnamespace = '${quoted(schema)}'::regnamespace AND c.relkind IN ('r', 'p') LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', made.name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %I', made.name, members);
      END LOOP;
      FOR made IN SELECT p.oid::regprocedure AS name, starts_with(p.proname, 'own_') AS inner_only FROM pg_proc AS p
        WHERE p.pronamespace = '${quoted(schema)}'::regnamespace LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', made.name);
        IF NOT made.inner_only THEN
          EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', made.name, members);
        END IF;
      END LOOP;
    END $body$;`
}

function toNewer(version: number, shown: string): ThroughlineError {
  return new ThroughlineError(
    'database-newer',
    `the database ${shown} is of version ${version}, this Throughline knows ${NEWEST}`,
    { hint: 'Update Throughline on this machine. Nothing was changed.' },
  )
}
