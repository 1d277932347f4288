import type { SessionTotals, StoredBill } from '../store.ts'
import { mayRead, type Viewer } from './access.ts'
import { fromColumn, fromColumnOrNone, toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import { createStatement } from './statement.ts'

interface UsageColumns {
  readonly input: number
  readonly output: number
  readonly cache_read: number
  readonly cache_creation: number
  readonly cache_creation_5m: number
  readonly cache_creation_1h: number
}

interface BillColumns extends UsageColumns {
  readonly key: string
  readonly at: number | null
  readonly model: string | null
  readonly workdir: string | null
  readonly path: string
  readonly session: string
  readonly created: string
}

/** What was billed, one per message and file. */
export async function readBills(
  connection: Connection,
  viewer: Viewer | undefined,
): Promise<Iterable<StoredBill>> {
  const statement = createStatement()
  const rows = await connection.query<BillColumns>(
    `SELECT bill.key, bill.at, input, output, cache_read, cache_creation, cache_creation_5m, cache_creation_1h,
            model.text AS model, workdir.text AS workdir, file.path, file.session, file.created
     FROM bill JOIN file ON file.id = bill.file LEFT JOIN word AS model ON model.id = bill.model
     LEFT JOIN word AS workdir ON workdir.id = bill.workdir
     WHERE ${viewer === undefined ? 'true' : mayRead('file', viewer, statement)} ORDER BY bill.file, bill.key`,
    statement.values,
  )
  return toBills(rows)
}

function* toBills(rows: readonly BillColumns[]): Generator<StoredBill> {
  for (const row of rows) {
    yield {
      key: fromColumn(row.key),
      at: row.at ?? undefined,
      model: fromColumnOrNone(row.model),
      workdir: fromColumnOrNone(row.workdir),
      path: fromColumn(row.path),
      session: fromColumn(row.session),
      createdAt: fromColumn(row.created),
      usage: toUsage(row),
    }
  }
}

/** What sessions amount to. A message that stands in the session's own file and in a subagent's is one message. The larger figures are the final ones. */
export async function readTotals(
  connection: Connection,
  sessions: readonly string[] | undefined,
  viewer: Viewer | undefined,
): Promise<readonly SessionTotals[]> {
  const statement = createStatement()
  const parts = ['true']
  if (sessions !== undefined)
    parts.push(`file.session = ANY(${statement.bind(sessions.map(toColumn))}::text[])`)
  if (viewer !== undefined) parts.push(mayRead('file', viewer, statement))
  const rows = await connection.query<UsageColumns & { session: string; replies: number }>(
    `SELECT session, sum(own)::bigint AS replies, sum(input)::bigint AS input, sum(output)::bigint AS output,
            sum(cache_read)::bigint AS cache_read, sum(cache_creation)::bigint AS cache_creation,
            sum(cache_creation_5m)::bigint AS cache_creation_5m, sum(cache_creation_1h)::bigint AS cache_creation_1h
     FROM (SELECT DISTINCT ON (file.session, bill.key) file.session, input, output, cache_read, cache_creation,
                  cache_creation_5m, cache_creation_1h,
                  max((file.subagent IS NULL)::int) OVER (PARTITION BY file.session, bill.key) AS own
           FROM bill JOIN file ON file.id = bill.file WHERE ${parts.join(' AND ')}
           ORDER BY file.session, bill.key, output DESC) AS message
     GROUP BY session ORDER BY session`,
    statement.values,
  )
  return rows.map((row) => ({ session: fromColumn(row.session), replies: row.replies, usage: toUsage(row) }))
}

function toUsage(row: UsageColumns): StoredBill['usage'] {
  return {
    input: row.input,
    output: row.output,
    cacheRead: row.cache_read,
    cacheCreation: row.cache_creation,
    cacheCreation5m: row.cache_creation_5m,
    cacheCreation1h: row.cache_creation_1h,
  }
}
