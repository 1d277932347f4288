import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgresStore, openTeamBook, openTeamLog, type PostgresAddress } from '#store'
import {
  advance,
  billRow,
  entryRow,
  fileRow,
  openPostgresServer,
  openTeamPlace,
  type PostgresServer,
  type TeamPlace,
} from '#testing'

/** What everything of Bob's has in it: one word, so that it is one for searching too. */
const SECRET = 'bobsecret'
const HEX = Buffer.from(SECRET).toString('hex')
const BLOB = Buffer.from(`${SECRET} ${'x'.repeat(400_000)}`)
const VERIFIER = 'SCRAM-SHA-256$4096:c2FsdHNhbHRzYWx0$c3RvcmVk:c2VydmVy'

let server: PostgresServer
let place: TeamPlace
/** The owner of the database, whom no policy holds back. */
let owner: Client
let bob: { readonly team: number; readonly person: number; readonly origin: number; readonly key: string }
/** Whoever tries, each with a connection that was open before anything was taken from him. */
const logins = new Map<string, Client>()

interface Column {
  readonly name: string
  readonly type: string
  readonly isNeeded: boolean
}

/** Every table and view of the schema, as the database itself lists them. */
const tables = new Map<string, readonly Column[]>()

beforeAll(async () => {
  server = await openPostgresServer()
  place = await openTeamPlace(server)
  owner = new Client({ connectionString: place.url, options: '-c search_path=throughline' })
  await owner.connect()
  const stranger = await openTeamPlace(server, { url: place.url, team: 'another', admin: { person: 'mal' } })
  const bobs = await place.addMachine({ person: 'bob' })
  await fillFor(bobs)
  const others: Record<string, PostgresAddress> = {
    member: await place.addMachine({ person: 'eve' }),
    viewer: await place.addMachine({ person: 'vic', role: 'viewer' }),
    admin: place.admin,
    'admin of another team': stranger.admin,
    revoked: await place.addMachine({ person: 'rob' }),
    removed: await place.addMachine({ person: 'rem' }),
  }
  for (const [name, address] of Object.entries(others)) logins.set(name, await connect(address))
  // The connections stay open: it is the rows that are taken away.
  await say("UPDATE origin SET revoked_at = now() FROM person WHERE person.id = owner AND name = 'rob'")
  await say("UPDATE person SET removed_at = now() WHERE name = 'rem'")
  const columns = await say<Column & { table: string }>(
    `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type,
            a.attnotnull AND (NOT a.atthasdef OR pg_get_expr(d.adbin, d.adrelid) LIKE '%my_%')
              AND a.attidentity = '' AS "isNeeded"
     FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = 'throughline'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
     ORDER BY c.relname, a.attnum`,
  )
  for (const { table, ...column } of columns) tables.set(table, [...(tables.get(table) ?? []), column])
  for (const table of tables.keys()) await fillTable(table)
})
afterAll(async () => {
  for (const client of logins.values()) await client.end()
  await owner?.end()
  await server?.close()
})

async function say<Row extends object = object>(
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  return (await owner.query<Row>(sql, [...values])).rows
}

async function connect(address: PostgresAddress): Promise<Client> {
  const client = new Client({ connectionString: address.reveal(), options: '-c search_path=throughline' })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** What Bob has: everything that our code writes. */
async function fillFor(address: PostgresAddress): Promise<void> {
  const log = await openTeamLog({ address })
  const { origin } = log.self
  const file = {
    path: `/${SECRET}`,
    place: SECRET,
    remote: SECRET,
    session: SECRET,
    workdir: `/${SECRET}`,
  }
  for (const kind of ['transcript', 'document', 'audit'] as const) {
    const number = await log.putFile({ ...file, identity: `${SECRET} ${kind}`, kind, scope: 'private' })
    await log.append([
      { file: number, offset: 0, bytes: Buffer.from(`${SECRET}\n`) },
      { file: number, offset: 100, bytes: BLOB },
    ])
  }
  const store = await openPostgresStore({ address })
  const row = fileRow(`/${SECRET}`, { origin, session: SECRET, workdirs: [`/${SECRET}`] })
  const bills = [billRow(SECRET, { output: 1 }, { model: SECRET, workdir: SECRET })]
  await store.apply([advance(row, [entryRow(SECRET, { tool: SECRET })], { bills })])
  const book = await openTeamBook({ address })
  await book.share({ kind: 'session', session: `${SECRET} of another`, with: { person: 'ada' } })
  await book.invite({ person: 'bob' })
  await Promise.all([log.close(), store.close(), book.close()])
  const [row0] = await say<{ team: number; person: number; origin: number }>(
    'SELECT team, owner AS person, id AS origin FROM origin WHERE key = $1',
    [origin],
  )
  bob = { ...(row0 ?? { team: 0, person: 0, origin: 0 }), key: origin }
}

/** A table that has nothing of Bob's yet gets a row of his, made from what its columns are called. */
async function fillTable(table: string): Promise<void> {
  if ((await bobsRows(table)).length > 0 || NOBODYS.has(table)) return
  const columns = (tables.get(table) ?? []).filter(({ isNeeded }) => isNeeded)
  await say(
    `INSERT INTO ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')})
     VALUES (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    columns.map(toValue),
  )
}

function toValue({ name, type }: Column): unknown {
  if (name === 'team') return bob.team
  if (/owner|person|reader/.test(name)) return bob.person
  if (/origin|contender/.test(name)) return bob.origin
  if (type === 'bytea') return Buffer.from(SECRET)
  if (type.startsWith('timestamp')) return new Date(Date.now() + 3_600_000)
  return type === 'text' ? SECRET : 1
}

/** What is nobody's: of the whole team, or of the database. */
const NOBODYS = new Set(['migration', 'setting', 'team', 'team_clock', 'index_state', 'log_batch'])
/** What tells those of a share with whom it is. */
const SHARED = new Set(['share', 'session_reader'])
/** What no login reads at all. */
const CLOSED = new Set(['setting', 'login', 'log_batch'])
/** What says of itself whose it is. */
const WHOSE: Readonly<Record<string, () => number>> = {
  owner: () => bob.person,
  from_person: () => bob.person,
  origin: () => bob.origin,
  from_origin: () => bob.origin,
  to_origin: () => bob.origin,
}

/** Rows of Bob's, as the owner of the database sees them. */
async function bobsRows(table: string): Promise<readonly string[]> {
  const rows = await say<{ said: string }>(`SELECT t::text AS said FROM ${table} AS t ORDER BY 1`)
  const parts = (tables.get(table) ?? []).flatMap(({ name }) =>
    name in WHOSE ? [`"${name}" = ${WHOSE[name]?.() ?? 0}`] : [],
  )
  const his =
    parts.length === 0
      ? []
      : await say<{ said: string }>(`SELECT t::text AS said FROM ${table} AS t WHERE ${parts.join(' OR ')}`)
  const found = new Set([...rows.filter(({ said }) => isSecret(said)), ...his].map(({ said }) => said))
  return [...found].toSorted()
}

const isSecret = (text: string | null): boolean =>
  text !== null && (text.includes(SECRET) || text.includes(HEX))

async function everythingOfBobs(): Promise<Readonly<Record<string, readonly string[]>>> {
  const all: Record<string, readonly string[]> = {}
  for (const table of tables.keys()) all[table] = await bobsRows(table)
  return all
}

/** What others may know of him: that he is in the team; and an admin, which machines there are. */
function mayKnow(name: string, table: string): boolean {
  return (table === 'person' && !name.includes('another')) || (name === 'admin' && table === 'origin')
}

describe('[ATT56] [TEA26] whoever comes with a login and no code of ours', () => {
  test('[ATT56] every table is closed by a policy, and has something of Bob in it', async () => {
    const open = await say(
      `SELECT relname FROM pg_class WHERE relnamespace = 'throughline'::regnamespace
       AND (relkind IN ('v', 'm', 'f') OR (relkind IN ('r', 'p') AND NOT relrowsecurity))`,
    )
    expect(open).toEqual([])
    const all = await everythingOfBobs()
    expect(Object.keys(all).filter((table) => all[table]?.length === 0 && !NOBODYS.has(table))).toEqual([])
  })

  test('[ATT56] reads nothing of what another keeps to himself, in no table', async () => {
    const seen: string[] = []
    for (const [name, client] of logins) {
      for (const [table, columns] of tables) {
        const { rows } = await client.query<{ said: string }>(`SELECT t::text AS said FROM ${table} AS t`)
        const his = new Set(await bobsRows(table))
        const isOut = name === 'revoked' || name === 'removed'
        if (CLOSED.has(table) && rows.length > 0) seen.push(`${name}: ${table}`)
        for (const { said } of rows) {
          if (isOut ? table !== 'migration' : !mayKnow(name, table) && (his.has(said) || isSecret(said))) {
            // What was shared with her is there for her.
            if (name === 'admin' && SHARED.has(table) && said.includes('of another')) continue
            seen.push(`${name}: ${table}: ${said.slice(0, 80)}`)
          }
        }
        // A condition that tells what is in a row by failing on it is not asked of rows that are not seen.
        for (const { name: column, type } of columns) {
          if (type !== 'text') continue
          const failing = `SELECT 1 FROM ${table} AS t WHERE 1 / (CASE WHEN t."${column}" LIKE '%${SECRET}%' THEN 0 ELSE 1 END) = 2`
          const told = await client.query(failing).then(
            () => false,
            () => true,
          )
          if (told && !mayKnow(name, table) && !(name === 'admin' && SHARED.has(table))) {
            seen.push(`${name}: ${table}.${column} by failing`)
          }
        }
      }
    }
    expect(seen).toEqual([])
  })

  test('[ATT56] changes and removes nothing, and puts nothing among what is his', async () => {
    const before = await everythingOfBobs()
    const done: string[] = []
    for (const [name, client] of logins) {
      for (const [table, columns] of tables) {
        const changes = [
          ...columns.map(({ name: column }) => `UPDATE ${table} SET "${column}" = "${column}"`),
          `UPDATE ${table} SET "${columns[0]?.name ?? ''}" = DEFAULT`,
          `DELETE FROM ${table}`,
          `TRUNCATE ${table}`,
        ]
        for (const sql of changes) {
          const changed = await client.query(sql).catch(() => undefined)
          if ((changed?.rowCount ?? 0) > 0) done.push(`${name}: ${sql}`)
        }
        for (const row of await bobsRows(table)) {
          const put = await client
            .query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT ($1::${table}).*`, [row])
            .then(
              () => 'put',
              (error: { code?: string }) => error.code ?? '',
            )
          // Refused by a policy, and not because there is one like it already.
          if (put !== '42501') done.push(`${name}: insert into ${table}: ${put}`)
        }
      }
    }
    expect(done).toEqual([])
    expect(await everythingOfBobs()).toEqual(before)
  })

  test('[ATT56] [TEA27] no function tells or changes anything of his, whatever it is given', async () => {
    const functions = await say<{
      name: string
      types: readonly string[]
      isOpen: boolean
      path: string
    }>(
      `SELECT p.proname AS name, p.prosecdef AS "isOpen", coalesce(p.proconfig::text, '') AS path,
              ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t)::text[] AS types
       FROM pg_proc AS p WHERE p.pronamespace = 'throughline'::regnamespace AND p.prorettype <> 'trigger'::regtype`,
    )
    expect(functions.length).toBeGreaterThan(20)
    expect(
      functions.filter(({ path, isOpen }) => isOpen && !/search_path=throughline, pg_temp/.test(path)),
    ).toEqual([])
    const before = await everythingOfBobs()
    const numbers = await say<{ id: string }>('SELECT id FROM log_file UNION SELECT id FROM file')
    const files = numbers.map(({ id }) => id)
    const asked = {
      candidates: `'${SECRET}'`,
      isExact: true,
      clauses: [],
      forms: [` ${SECRET} `],
      choices: [],
      tools: [],
      flags: [],
    }
    const given: Readonly<Record<string, readonly unknown[]>> = {
      text: ['bob', SECRET, bob.key, VERIFIER, 'admin', `/${SECRET}`],
      'text[]': [[SECRET, `/${SECRET}`]],
      integer: [bob.person, bob.origin, 0, 1],
      'integer[]': [[1], [0]],
      bigint: ['0', ...files],
      'bigint[]': [[files[0] ?? '0'], ['0']],
      bytea: [createHash('sha256').update(BLOB).digest(), Buffer.from(SECRET)],
      jsonb: [JSON.stringify(asked), JSON.stringify({ choices: [], tools: [], flags: [] })],
      'double precision': [1],
      'double precision[]': [[1]],
      boolean: [true, false],
    }
    const told: string[] = []
    for (const [name, client] of logins) {
      // An admin may invite and revoke whom he likes; that is his office.
      if (name === 'admin') continue
      for (const { name: called, types } of functions) {
        // Who holds a session is said to whoever knows its name, so that it is not continued twice.
        if (called.startsWith('lease_')) continue
        const all = combined(types.map((type) => given[type] ?? [null]))
        for (const values of name === 'member' ? all : all.filter((_, n) => n % 5 === 0)) {
          const marks = values.map((_, n) => `$${n + 1}::${types[n] ?? 'text'}`).join(', ')
          const { rows } = await client
            .query<{ said: string }>(`SELECT f::text AS said FROM ${called}(${marks}) AS f`, [...values])
            .catch(() => ({ rows: [] }))
          // What was given may come back.
          const rest = (said: string | null): string =>
            values.flat().reduce<string>((left, value) => left.replaceAll(String(value), ''), said ?? '')
          for (const { said } of rows) {
            const isHis =
              /search_(?:rank|news|newest)/.test(called) || /bob/.test(rest(said)) || isSecret(rest(said))
            if (isHis) told.push(`${name}: ${called}(${values.map(String).join(', ').slice(0, 80)}): ${said}`)
            if (/search_(?:count|rarity)/.test(called) && said !== '0')
              told.push(`${name}: ${called}: ${said}`)
          }
        }
      }
    }
    expect(told).toEqual([])
    // What they said of sessions of their own.
    await say('DELETE FROM session_workdir WHERE owner <> $1', [bob.person])
    expect(await everythingOfBobs()).toEqual(before)
  })

  test("[ATT56] [TEA28] a long line is not had by its name: neither read, nor made one of one's own", async () => {
    const eve = logins.get('member')
    if (eve === undefined) return
    const hash = createHash('sha256').update(BLOB).digest()
    const [file] = (
      await eve.query<{ id: string }>(
        `INSERT INTO log_file (team, origin, owner, key, path_key, identity, kind, path)
         SELECT my_team(), my_origin(), my_person(), '\\x01', '\\x01', 'e', 'transcript', '/e' RETURNING id`,
      )
    ).rows
    const append = (bytesAt: number): Promise<unknown> =>
      eve.query('SELECT append_lines($1, $2, $3, $4, $5, $6, $7)', [
        hash,
        Buffer.from('x'),
        [file?.id],
        [0],
        [1],
        [1],
        [bytesAt],
      ])
    await expect(append(0)).rejects.toThrow(/by its name/)
    // A short line that is said to be the long one.
    await append(1)
    await expect(eve.query('SELECT keep_blob($1, 1)', [hash])).rejects.toThrow(/whole/)
    for (const table of ['blob', 'blob_piece', 'blob_holder', 'blob_upload']) {
      expect((await eve.query(`SELECT * FROM ${table}`)).rows).toEqual([])
    }
    await say('DELETE FROM log_line WHERE file = $1', [file?.id])
    await say('DELETE FROM log_file WHERE id = $1', [file?.id])
  })
})

/** All ways to choose one of each; of more than that, as many that differ. */
function combined(choices: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  const all = choices.reduce((product, some) => product * some.length, 1)
  return Array.from({ length: Math.min(all, MOST_WAYS) }, (_, n) => {
    let rest = all > MOST_WAYS ? n * 7919 : n
    return choices.map((some, at) => {
      const chosen = some[(all > MOST_WAYS ? rest + at * n : rest) % some.length]
      rest = Math.floor(rest / some.length)
      return chosen
    })
  })
}

const MOST_WAYS = 250
