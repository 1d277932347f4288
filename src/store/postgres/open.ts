import { ThroughlineError } from '#base'
import type { IndexedFile, Store } from '../store.ts'
import type { PostgresAddress } from './address.ts'
import { applyChanges } from './apply.ts'
import { NOBODY, type WriterOptions } from './apply-voids.ts'
import { readBills, readTotals } from './bills.ts'
import { fromColumn, fromColumnOrNone, toColumnOrNull } from './column-text.ts'
import { openConnections, SCHEMA, type Connection, type ConnectionOptions } from './connection.ts'
import { stringsIn } from './filter.ts'
import { enterTeam, type Member } from './members.ts'
import { migrate } from './migrations.ts'
import { findEntries } from './search.ts'
import { createWords } from './words.ts'

export interface PostgresOptions extends ConnectionOptions {
  readonly address: PostgresAddress
  /**
   * Who asks: he writes the files of his machine and no other, and finds what he may see. Not given: there is no team,
   * and everything belongs to whoever opens it.
   */
  readonly member?: Member | undefined
}

/** An index in a database, for many machines. Makes its tables where there are none. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { schema = SCHEMA } = options
  const origin = options.member?.origin
  const connections = await openConnections(options)
  try {
    await migrate(connections, schema)
    const epoch = await readEpoch(connections)
    const words = createWords(connections)
    const viewer = options.member === undefined ? undefined : await enterTeam(connections, options.member)
    const writing = { origin, words, member: viewer ?? NOBODY }
    return {
      epoch,
      async newest() {
        const [row] = await connections.query<{ highest: number }>('SELECT highest FROM index_state')
        return row?.highest ?? 0
      },
      files: () => readFiles(connections, writing),
      apply: (changes) => applyChanges(connections, changes, writing),
      search: (request) => findEntries(connections, request, { words, viewer }),
      totals: (sessions) => readTotals(connections, sessions, viewer),
      bills: () => readBills(connections, viewer),
      size: () => readSize(connections),
      verify: () => verify(connections),
      tidy: () => tidy(connections, schema),
      close: () => connections.close(),
    }
  } catch (error) {
    await connections.close()
    throw error
  }
}

async function readEpoch(connection: Connection): Promise<string> {
  const [row] = await connection.query<{ epoch: string }>('SELECT epoch FROM index_state')
  if (row !== undefined) return row.epoch
  throw new ThroughlineError('index-unavailable', 'the index in the database has no name', {
    hint: 'Its tables were emptied by somebody. Drop the schema; it is made and filled again.',
  })
}

interface FileColumns {
  readonly path: string
  readonly origin: string
  readonly agent: string
  readonly session: string
  readonly subagent: string | null
  readonly created: string
  readonly workdirs: string
  readonly offset: number
  readonly guard: string
  readonly seen: string
  readonly fold: string
}

async function readFiles(
  connection: Connection,
  { origin, member }: WriterOptions,
): Promise<readonly IndexedFile[]> {
  const rows = await connection.query<FileColumns>(
    `SELECT path, origin, agent, session, subagent, created, workdirs, "offset", guard, seen, fold FROM file
     WHERE team = $1 AND ($2::text IS NULL OR origin = $2)`,
    [member.team, toColumnOrNull(origin)],
  )
  return rows.map((row) => ({
    path: fromColumn(row.path),
    origin: fromColumn(row.origin),
    agent: fromColumn(row.agent),
    session: fromColumn(row.session),
    subagent: fromColumnOrNone(row.subagent),
    createdAt: fromColumn(row.created),
    workdirs: stringsIn(row.workdirs),
    offset: row.offset,
    guard: fromColumn(row.guard),
    seen: fromColumn(row.seen),
    fold: fromColumn(row.fold),
  }))
}

async function readSize(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ size: number }>(
    `SELECT sum(pg_total_relation_size(name::regclass))::bigint AS size
     FROM unnest(ARRAY['file', 'word', 'entry', 'entry_text', 'bill']) AS name`,
  )
  return row?.size ?? 0
}

/** What must hold between the tables, and how to find what breaks it. The server looks after its own pages. */
const CHECKS: readonly (readonly [says: string, sql: string])[] = [
  [
    'entries of no file',
    'SELECT 1 FROM entry WHERE NOT EXISTS (SELECT 1 FROM file WHERE file.id = entry.file)',
  ],
  [
    'texts of no entry',
    'SELECT 1 FROM entry_text AS t WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.id = t.entry)',
  ],
  ['bills of no file', 'SELECT 1 FROM bill WHERE NOT EXISTS (SELECT 1 FROM file WHERE file.id = bill.file)'],
  [
    'entries numbered beyond the last',
    'SELECT 1 FROM entry, index_state WHERE entry.id > index_state.highest OR entry.id < index_state.lowest',
  ],
  [
    'texts that were counted wrong',
    `SELECT 1 FROM index_weight AS w LEFT JOIN (
       SELECT tier, count(*) AS texts, sum(count) AS words FROM entry_text GROUP BY tier) AS t USING (tier)
     WHERE w.texts <> coalesce(t.texts, 0) OR w.words <> coalesce(t.words, 0)`,
  ],
]

async function verify(connection: Connection): Promise<readonly string[]> {
  const told: string[] = []
  for (const [says, sql] of CHECKS) {
    const [row] = await connection.query<{ found: boolean }>(`SELECT EXISTS (${sql}) AS found`)
    if (row?.found === true) told.push(`there are ${says}`)
  }
  return told
}

/** Puts what was added lately where it is found faster. The server would do it by itself some time later. */
async function tidy(connection: Connection, schema: string): Promise<boolean> {
  const [row] = await connection.query<{ pages: number }>(
    `SELECT coalesce(sum(gin_clean_pending_list(indexrelid)), 0)::bigint AS pages
     FROM pg_stat_user_indexes WHERE schemaname = $1 AND indexrelname LIKE 'entry_text_%'
       AND indexrelname <> 'entry_text_pkey'`,
    [schema],
  )
  return (row?.pages ?? 0) > 0
}
