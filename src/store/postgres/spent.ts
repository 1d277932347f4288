import type { Spent } from '../usage.ts'
import { BASE_TOKENS } from '../price.ts'
import { toUsage, type UsageColumns } from '../usage-columns.ts'
import { fromColumn, fromColumnOrNone } from './column-text.ts'
import type { Connection } from './connection.ts'

/** Days begin at a quarter of an hour, wherever on earth: what was spent within one is added up. */
const QUARTER_MS = 15 * 60 * 1000

interface SpentColumns extends UsageColumns {
  readonly quarter: number | null
  readonly model: string | null
  readonly workdir: string | null
  readonly session: string
  readonly messages: number
  readonly long: number
  readonly beyond_input: number
  readonly beyond_output: number
  readonly beyond_read: number
  readonly beyond_short: number
  readonly beyond_long: number
}

/**
 * What the person who asks has used on all of his machines, added up in the database: what comes back grows with the
 * time that was worked, and not with the messages. A message that stands in several files is counted once, for the
 * session that was created first, with the largest figures.
 */
export async function readSpent(connection: Connection): Promise<readonly Spent[]> {
  const rows = await connection.query<SpentColumns>(SPENT)
  return rows.map((row) => ({
    at: row.quarter === null ? undefined : row.quarter * QUARTER_MS,
    model: fromColumnOrNone(row.model),
    workdir: fromColumnOrNone(row.workdir),
    session: fromColumn(row.session),
    messages: row.messages,
    usage: toUsage(row),
    long: row.long,
    beyond: [row.beyond_input, row.beyond_output, row.beyond_read, row.beyond_short, row.beyond_long],
  }))
}

const USED = ['input', 'output', 'cache_read', 'cache_creation', 'cache_creation_5m', 'cache_creation_1h']
const OLDEST = `(created = ''), created COLLATE "C", session COLLATE "C", path COLLATE "C"`
const LONG = 'least(cache_creation_1h, cache_creation)'
const beyond = (tokens: string): string => `sum(greatest(${tokens} - ${BASE_TOKENS}, 0))::bigint`

const SPENT = `
  WITH told AS (
    SELECT bill.key, bill.at, bill.model, bill.workdir, ${USED.map((used) => `bill.${used}`).join(', ')},
           file.session, file.created, file.path
    FROM bill JOIN file ON file.team = bill.team AND file.id = bill.file
    WHERE file.owner = (SELECT my_person())
  ), owned AS (
    SELECT DISTINCT ON (key) key, at, model, workdir, session FROM told ORDER BY key, ${OLDEST}
  ), figures AS (
    SELECT DISTINCT ON (key) key, ${USED.join(', ')} FROM told ORDER BY key, output DESC, ${OLDEST}
  )
  SELECT at / ${QUARTER_MS} AS quarter, model, workdir, session, count(*) AS messages,
         ${USED.map((used) => `sum(${used})::bigint AS ${used}`).join(', ')}, sum(${LONG})::bigint AS long,
         ${beyond('input')} AS beyond_input, ${beyond('output')} AS beyond_output,
         ${beyond('cache_read')} AS beyond_read, ${beyond(`(cache_creation - ${LONG})`)} AS beyond_short,
         ${beyond(LONG)} AS beyond_long
  FROM owned JOIN figures USING (key)
  WHERE input + output + cache_read + cache_creation > 0
  GROUP BY 1, 2, 3, 4`
