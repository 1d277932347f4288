import { fromColumn, toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import { toOrigin, type OriginRow } from './desk-calls.ts'
import type { DeskOnward, OnwardSession } from './desk.ts'

/** Tells a machine that a session of it went on elsewhere. Only whoever may read the session can; said twice, it is said once. */
export async function putOnward(connection: Connection, onward: DeskOnward): Promise<void> {
  await connection.run(
    `INSERT INTO session_onward (origin, session, agent, to_session, to_agent)
     SELECT DISTINCT file.origin, file.session, $3, $4, $5
     FROM log_file AS file JOIN origin AS place ON place.team = file.team AND place.id = file.origin
     WHERE place.key = $1 AND file.session = $2
     ON CONFLICT DO NOTHING`,
    [
      toColumn(onward.origin),
      toColumn(onward.session),
      toColumn(onward.agent),
      toColumn(onward.to.session),
      toColumn(onward.to.agent),
    ],
  )
}

/** What went on elsewhere of this machine. */
export async function readOnward(connection: Connection): Promise<readonly OnwardSession[]> {
  const rows = await connection.query<
    OriginRow & { session: string; agent: string; to_session: string; to_agent: string; at: Date }
  >('SELECT * FROM desk_onward()')
  return rows.map((row) => ({
    session: fromColumn(row.session),
    agent: fromColumn(row.agent),
    to: { session: fromColumn(row.to_session), agent: fromColumn(row.to_agent), origin: toOrigin(row) },
    at: row.at.toISOString(),
  }))
}
