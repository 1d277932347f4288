import type { SessionTotals, StoredBill } from '../store.ts'
import { toUsage, type UsageColumns } from '../usage-columns.ts'
import { fromColumn, fromColumnOrNone, toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'

interface BillColumns extends UsageColumns {
  readonly key: string
  readonly at: number | null
  readonly model: string | null
  readonly workdir: string | null
  readonly path: string
  readonly session: string
  readonly created: string
  readonly origin: string | null
}

/** What was billed, one per message and file. */
export async function readBills(connection: Connection, which: Which): Promise<Iterable<StoredBill>> {
  const rows = await connection.query<BillColumns>(
    `SELECT bill.key, bill.at, input, output, cache_read, cache_creation, cache_creation_5m, cache_creation_1h,
            bill.model, bill.workdir, file.path, file.session, file.created, origin.key AS origin
     FROM bill JOIN file ON file.team = bill.team AND file.id = bill.file
       LEFT JOIN origin ON origin.team = file.team AND origin.id = file.origin
     WHERE ${isMeant(which)} ORDER BY bill.file, bill.key`,
  )
  return toBills(rows)
}

/** Whose files are asked for: everybody's that may be seen, or those of other machines. */
export interface Which {
  readonly others: boolean
}

function isMeant({ others }: Which): string {
  return others ? 'file.origin <> (SELECT my_origin())' : 'true'
}

function* toBills(rows: readonly BillColumns[]): Generator<StoredBill> {
  for (const row of rows) {
    yield {
      key: fromColumn(row.key),
      at: row.at ?? undefined,
      model: fromColumnOrNone(row.model),
      workdir: fromColumnOrNone(row.workdir),
      path: fromColumn(row.path),
      origin: fromColumnOrNone(row.origin),
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
  which: Which,
): Promise<readonly SessionTotals[]> {
  const isAsked = sessions === undefined ? 'true' : 'file.session = ANY($1::text[])'
  const rows = await connection.query<UsageColumns & { session: string; replies: number }>(
    `SELECT session, sum(own)::bigint AS replies, sum(input)::bigint AS input, sum(output)::bigint AS output,
            sum(cache_read)::bigint AS cache_read, sum(cache_creation)::bigint AS cache_creation,
            sum(cache_creation_5m)::bigint AS cache_creation_5m, sum(cache_creation_1h)::bigint AS cache_creation_1h
     FROM (SELECT DISTINCT ON (file.session, bill.key) file.session, input, output, cache_read, cache_creation,
                  cache_creation_5m, cache_creation_1h,
                  max((file.subagent IS NULL)::int) OVER (PARTITION BY file.session, bill.key) AS own
           FROM bill JOIN file ON file.team = bill.team AND file.id = bill.file
           WHERE ${isMeant(which)} AND ${isAsked}
           ORDER BY file.session, bill.key, output DESC) AS message
     GROUP BY session ORDER BY session`,
    sessions === undefined ? [] : [sessions.map(toColumn)],
  )
  return rows.map((row) => ({ session: fromColumn(row.session), replies: row.replies, usage: toUsage(row) }))
}
