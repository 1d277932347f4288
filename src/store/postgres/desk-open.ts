import { ThroughlineError } from '#base'
import { fromColumn, toColumn } from './column-text.ts'
import {
  openConnections,
  SCHEMA,
  type Connection,
  type ConnectionOptions,
  type Connections,
} from './connection.ts'
import { callMachine, takeCalls, toOrigin, type OriginRow } from './desk-calls.ts'
import { findLease, keepLeases, takeLease } from './desk-leases.ts'
import { listenToDesk } from './desk-listen.ts'
import { putOnward, readOnward } from './desk-onward.ts'
import type {
  Desk,
  DeskAuthors,
  DeskPlace,
  DeskPublication,
  DeskSession,
  DeskView,
  KnownSession,
} from './desk.ts'

export interface DeskOptions extends ConnectionOptions {
  readonly now: () => number
  /** How long a live session is shown that nobody keeps. */
  readonly liveMs?: number | undefined
  readonly leaseMs?: number | undefined
}

const STATEMENT_MS = 4000
const CONNECT_MS = 3000
const LIVE_MS = 20_000
const SWEEP_MS = 3_600_000

/** The desk of the machine whose login it is. Nothing is asked of the database yet, so nobody waits for it here. */
export async function openDesk(options: DeskOptions): Promise<Desk> {
  const { schema = SCHEMA, now, liveMs = LIVE_MS, leaseMs = LIVE_MS } = options
  const connections = await openConnections({
    statementMs: STATEMENT_MS,
    connectMs: CONNECT_MS,
    most: 3,
    ...options,
  })
  const channel = `desk_${schema}`
  let isUp = false
  let sweptAt = -Infinity
  const waiting = new Set<() => void>()
  const asked = toWatched(connections, (answered) => (isUp = answered))

  function ring(): void {
    for (const wake of waiting) wake()
  }

  async function wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      waiting.add(wake)
    })
  }

  async function sweep(): Promise<void> {
    if (now() - sweptAt < SWEEP_MS) return
    sweptAt = now()
    await asked.query('SELECT desk_sweep()')
  }

  return {
    publish: (session) => publish(asked, session, { liveMs, channel }),
    async keep(sessions) {
      await sweep()
      return await keep(asked, sessions, liveMs)
    },
    async retire(session) {
      await asked.run('DELETE FROM live_session WHERE origin = my_origin() AND session = $1', [
        toColumn(session),
      ])
      await asked.run(`SELECT pg_notify($1, 'live')`, [channel])
    },
    sessions: (known = []) => readSessions(asked, known),
    findView: (place) => findView(asked, place),
    call: (call) => callMachine(asked, call, { channel, wait, now }),
    take: (run) => takeCalls(asked, run),
    async answer(id, answer) {
      await asked.run(`SELECT desk_answer($1, $2), pg_notify($3, 'answer')`, [id, answer, channel])
    },
    takeLease: (session) => takeLease(asked, session, leaseMs),
    keepLeases: (sessions) => keepLeases(asked, sessions, leaseMs),
    async releaseLease(session) {
      await asked.run('SELECT lease_release($1)', [toColumn(session)])
    },
    findLease: (session) => findLease(asked, session),
    putAuthors: (authors) => putAuthors(asked, authors),
    findAuthors: (place) => findAuthors(asked, place),
    async putOnward(onward) {
      await putOnward(asked, onward)
      await asked.run(`SELECT pg_notify($1, 'live')`, [channel])
    },
    onward: () => readOnward(asked),
    listen: (request) =>
      listenToDesk(connections, {
        ...request,
        channel,
        async onRing() {
          ring()
          await request.onRing()
        },
        onTrouble(error) {
          isUp = false
          request.onTrouble?.(error)
        },
      }),
    isUp: () => isUp,
    async close() {
      ring()
      await connections.close()
    },
  }
}

/** Says of every statement whether the database answered it; also a refusal is an answer. */
function toWatched(connections: Connections, tell: (answered: boolean) => void): Connection {
  async function watch<T>(asking: Promise<T>): Promise<T> {
    try {
      const answer = await asking
      tell(true)
      return answer
    } catch (error) {
      tell(!(error instanceof ThroughlineError) || error.code !== 'database-unreachable')
      throw error
    }
  }
  return {
    query: (sql, values) => watch(connections.query(sql, values)),
    run: (sql, values) => watch(connections.run(sql, values)),
  }
}

const PUBLISH = `
  INSERT INTO live_session AS live (session, workdir, card, view, changed, moved, expires)
  VALUES ($1, $2, $3, $4, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, clock_timestamp() + $5 * interval '1 millisecond')
  ON CONFLICT (team, origin, session) DO UPDATE SET
    workdir = excluded.workdir, card = excluded.card, view = excluded.view, expires = excluded.expires,
    changed = CASE WHEN live.card = excluded.card THEN live.changed ELSE greatest(excluded.changed, live.changed + 1) END,
    moved = CASE WHEN live.view IS NOT DISTINCT FROM excluded.view THEN live.moved ELSE greatest(excluded.moved, live.moved + 1) END
  RETURNING pg_notify($6, 'live')`

async function publish(
  connection: Connection,
  { session, workdir, card, view }: DeskPublication,
  { liveMs, channel }: { readonly liveMs: number; readonly channel: string },
): Promise<void> {
  await connection.run(PUBLISH, [toColumn(session), toColumn(workdir), card, view ?? null, liveMs, channel])
}

async function keep(
  connection: Connection,
  sessions: readonly string[],
  liveMs: number,
): Promise<readonly string[]> {
  if (sessions.length === 0) return []
  const kept = await connection.query<{ session: string }>(
    `UPDATE live_session SET expires = clock_timestamp() + $2 * interval '1 millisecond'
     WHERE origin = my_origin() AND session = ANY($1) RETURNING session`,
    [sessions.map(toColumn), liveMs],
  )
  const there = new Set(kept.map(({ session }) => fromColumn(session)))
  return sessions.filter((session) => !there.has(session))
}

const SESSIONS = `
  SELECT place.*, live.session, desk_may(live.owner, live.session, live.workdir) AS may, live.changed, live.moved,
    extract(epoch FROM live.expires - clock_timestamp())::double precision * 1000 AS remaining,
    CASE WHEN known.changed IS DISTINCT FROM live.changed THEN live.card END AS card
  FROM live_session AS live
  CROSS JOIN LATERAL desk_origin(live.origin) AS place
  LEFT JOIN unnest($1::text[], $2::text[], $3::bigint[]) AS known (origin, session, changed)
    ON known.origin = place.key AND known.session = live.session
  WHERE live.origin <> my_origin() AND live.expires > clock_timestamp() - interval '1 hour'
  ORDER BY place.key, live.session`

async function readSessions(
  connection: Connection,
  known: readonly KnownSession[],
): Promise<readonly DeskSession[]> {
  const rows = await connection.query<
    OriginRow & {
      session: string
      may: 'read' | 'answer'
      changed: number
      moved: number
      remaining: number
      card: Buffer | null
    }
  >(SESSIONS, [
    known.map(({ origin }) => toColumn(origin)),
    known.map(({ session }) => toColumn(session)),
    known.map(({ changed }) => changed),
  ])
  return rows.map((row) => {
    const from = toOrigin(row)
    const { may, changed, moved, remaining, card } = row
    const place = { origin: from.origin, session: fromColumn(row.session) }
    return { ...place, from, may, changed, moved, leftMs: remaining, ...(card === null ? {} : { card }) }
  })
}

async function findView(
  connection: Connection,
  { origin, session }: DeskPlace,
): Promise<DeskView | undefined> {
  const [row] = await connection.query<{ moved: number; view: Buffer | null }>(
    `SELECT live.moved, live.view FROM live_session AS live CROSS JOIN LATERAL desk_origin(live.origin) AS place
     WHERE place.key = $1 AND live.session = $2`,
    [toColumn(origin), toColumn(session)],
  )
  return row && { moved: row.moved, ...(row.view === null ? {} : { view: row.view }) }
}

async function putAuthors(connection: Connection, { session, workdir, body }: DeskAuthors): Promise<void> {
  await connection.run(
    `INSERT INTO session_author (session, workdir, body) VALUES ($1, $2, $3)
     ON CONFLICT (team, origin, session) DO UPDATE SET workdir = excluded.workdir, body = excluded.body`,
    [toColumn(session), toColumn(workdir), body],
  )
}

async function findAuthors(
  connection: Connection,
  { origin, session }: DeskPlace,
): Promise<Buffer | undefined> {
  const [row] = await connection.query<{ body: Buffer }>(
    `SELECT said.body FROM session_author AS said CROSS JOIN LATERAL desk_origin(said.origin) AS place
     WHERE place.key = $1 AND said.session = $2`,
    [toColumn(origin), toColumn(session)],
  )
  return row?.body
}
