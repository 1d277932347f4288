import type { Connection } from './connection.ts'
import { fromColumn, toColumn } from './column-text.ts'
import { toOrigin, type OriginRow } from './desk-calls.ts'
import type { KeptLease, LeaseHolder, LeaseState } from './desk.ts'

type HolderRow = OriginRow & { readonly remaining: number; readonly held: boolean }

/** Takes a lease, or renews it: one statement, decided by the database and its clock. */
export async function takeLease(connection: Connection, session: string, ms: number): Promise<LeaseState> {
  for (;;) {
    const [row] = await connection.query<HolderRow>('SELECT * FROM lease_take($1, $2)', [
      toColumn(session),
      ms,
    ])
    // Whoever had it has let go of it in the moment in between.
    if (row === undefined) continue
    return row.held
      ? { state: 'mine', leftMs: row.remaining }
      : { state: 'held', holder: toOrigin(row), leftMs: row.remaining }
  }
}

/** Keeps the leases of sessions that run here. */
export async function keepLeases(
  connection: Connection,
  sessions: readonly string[],
  ms: number,
): Promise<readonly KeptLease[]> {
  if (sessions.length === 0) return []
  const rows = await connection.query<{
    name: string
    held: boolean
    holder: OriginRow
    contender: OriginRow | null
  }>('SELECT * FROM lease_keep($1, $2)', [sessions.map(toColumn), ms])
  return rows.map(({ name, held, holder, contender }) => ({
    session: fromColumn(name),
    ...(held ? {} : { heldBy: toOrigin(holder) }),
    ...(held && contender !== null ? { contender: toOrigin(contender) } : {}),
  }))
}

/** Who holds a session right now. */
export async function findLease(connection: Connection, session: string): Promise<LeaseHolder | undefined> {
  const [row] = await connection.query<HolderRow>('SELECT * FROM lease_find($1)', [toColumn(session)])
  return row && { holder: toOrigin(row), leftMs: row.remaining }
}
