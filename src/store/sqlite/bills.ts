import type { Database } from 'better-sqlite3'
import type { SessionTotals, StoredBill } from '../store.ts'
import { toUsage, type UsageColumns } from '../usage-columns.ts'

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
export function* readBills(db: Database): Generator<StoredBill> {
  const rows = db.prepare<[], BillColumns>(
    `SELECT bill.*, model.text AS model, workdir.text AS workdir, file.path, file.session, file.created
     FROM bill JOIN file ON file.id = bill.file LEFT JOIN word AS model ON model.id = bill.model
     LEFT JOIN word AS workdir ON workdir.id = bill.workdir`,
  )
  for (const row of rows.iterate()) {
    yield {
      key: row.key,
      at: row.at ?? undefined,
      model: row.model ?? undefined,
      workdir: row.workdir ?? undefined,
      path: row.path,
      session: row.session,
      createdAt: row.created,
      usage: toUsage(row),
    }
  }
}

interface TotalColumns extends UsageColumns {
  readonly session: string
  readonly replies: number
}

/** What sessions amount to. A message that stands in the session's own file and in a subagent's is one message. The larger figures are the final ones. */
export function readTotals(db: Database, sessions: readonly string[] | undefined): readonly SessionTotals[] {
  const some = sessions === undefined ? '' : 'WHERE file.session IN (SELECT value FROM json_each(?))'
  const rows = db
    .prepare<unknown[], TotalColumns>(
      `SELECT session, sum(own) AS replies, sum(input) AS input, sum(output) AS output, sum(cache_read) AS cache_read,
              sum(cache_creation) AS cache_creation, sum(cache_creation_5m) AS cache_creation_5m,
              sum(cache_creation_1h) AS cache_creation_1h
       FROM (SELECT file.session AS session, max(output) AS output, max(file.subagent IS NULL) AS own, input,
                    cache_read, cache_creation, cache_creation_5m, cache_creation_1h
             FROM bill JOIN file ON file.id = bill.file ${some} GROUP BY file.session, bill.key)
       GROUP BY session`,
    )
    .all(...(sessions === undefined ? [] : [JSON.stringify(sessions)]))
  return rows.map((row) => ({
    session: row.session,
    replies: row.replies,
    usage: toUsage(row),
  }))
}
