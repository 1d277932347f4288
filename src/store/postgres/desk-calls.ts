import { randomUUID } from 'node:crypto'
import { string, ThroughlineError } from '#base'
import type { SessionOrigin } from '#model'
import { fromColumn, toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import type { DeskCall, TakenCalls } from './desk.ts'

/** How long a call waits to be taken up. */
const PATIENCE_MS = 8000
/** How long whoever took it up has: longer than the end of a session takes. */
const CARRYING_OUT_MS = 40_000
/** How often it is looked, when nobody rings. */
const LOOK_MS = 250
const MOST_AT_ONCE = 32

/** What a row says of a machine. */
export interface OriginRow {
  readonly key: string
  readonly machine: string
  readonly person: string
  readonly mine: boolean
}

export function toOrigin({ key, machine, person, mine }: OriginRow): SessionOrigin {
  const origin = fromColumn(key)
  return { origin, machine: machine === '' ? origin : fromColumn(machine), person: fromColumn(person), mine }
}

export interface CallingOptions {
  readonly channel: string
  /** Until something may have happened, or so many milliseconds are over. */
  readonly wait: (ms: number) => Promise<void>
  readonly now: () => number
}

const PUT_CALL = `
  INSERT INTO desk_call (id, to_origin, session, body, expires)
  SELECT $1, live.origin, live.session, $4, clock_timestamp() + $5 * interval '1 millisecond'
  FROM live_session AS live CROSS JOIN LATERAL desk_origin(live.origin) AS place
  WHERE place.key = $2 AND live.session = $3
  RETURNING pg_notify($6, 'call')`

/** Asks another machine, and waits for its answer. */
export async function callMachine(
  connection: Connection,
  call: DeskCall,
  { channel, wait, now }: CallingOptions,
): Promise<Buffer> {
  const { origin, session, body, patienceMs = PATIENCE_MS } = call
  const id = randomUUID()
  const begun = now()
  await put(connection, [id, toColumn(origin), toColumn(session), body, patienceMs, channel])
  let deadline = begun + patienceMs
  let isTaken = false
  for (;;) {
    const found = await find(connection, id).catch(() => undefined)
    if (found?.state === 'answered') return found.answer ?? Buffer.alloc(0)
    if (found?.state === 'refused') throw notAllowed()
    if (found?.state === 'taken' && !isTaken) {
      isTaken = true
      deadline = now() + CARRYING_OUT_MS
    }
    if (now() < deadline) {
      await wait(Math.min(LOOK_MS, deadline - now()))
      continue
    }
    if (isTaken) throw unknownOutcome('it was taken up there, and no answer came')
    const state = await withdraw(connection, id)
    if (state === 'withdrawn') throw unreached()
    if (state === undefined) throw unknownOutcome('the database does not answer')
    // It was taken up in the last moment.
    isTaken = true
    deadline = now() + CARRYING_OUT_MS
  }
}

async function put(connection: Connection, values: readonly (string | number | Buffer)[]): Promise<void> {
  let count: number
  try {
    count = await connection.run(PUT_CALL, values)
  } catch (error) {
    if (string(error instanceof ThroughlineError ? error.cause : error, 'code') === '42501')
      throw notAllowed()
    // It may be there all the same. Nobody waits for it: it is taken back, or is over by itself in a moment.
    await withdraw(connection, String(values[0]))
    throw error
  }
  if (count > 0) return
  throw new ThroughlineError('session-ended', 'this session is not live on any machine of the team', {
    hint: 'Look at the board again.',
  })
}

async function find(
  connection: Connection,
  id: string,
): Promise<{ readonly state: string; readonly answer: Buffer | null } | undefined> {
  const sql = 'SELECT state, answer FROM desk_call WHERE id = $1'
  return (await connection.query<{ state: string; answer: Buffer | null }>(sql, [id]))[0]
}

/** Takes a call back, and says how it stands now. `undefined`: nobody knows. */
async function withdraw(connection: Connection, id: string): Promise<string | undefined> {
  const sql = 'SELECT desk_withdraw($1) AS state'
  const rows = await connection.query<{ state: string | null }>(sql, [id]).catch(() => [])
  return rows[0]?.state ?? undefined
}

/** Takes up what is asked of this machine. */
export async function takeCalls(connection: Connection, run: string): Promise<TakenCalls> {
  const rows = await connection.query<
    OriginRow & { id: string; session: string; body: Buffer; lost: boolean }
  >('SELECT call AS id, session, body, lost, key, machine, person, is_mine AS mine FROM desk_take($1, $2)', [
    run,
    MOST_AT_ONCE,
  ])
  return {
    calls: rows
      .filter(({ lost }) => !lost)
      .map((row) => ({
        id: row.id,
        session: fromColumn(row.session),
        body: row.body,
        from: toOrigin(row),
      })),
    lost: rows.filter(({ lost }) => lost).map(({ id }) => id),
  }
}

function notAllowed(): ThroughlineError {
  return new ThroughlineError('not-allowed', 'this session may be looked at, and nothing else', {
    hint: 'Its owner can share it so that you may answer it too.',
  })
}

function unreached(): ThroughlineError {
  return new ThroughlineError('team-unreached', 'the machine that runs this session did not take it up', {
    hint: 'Nothing was done, and nothing will be. It may be switched off, or without a connection: try again.',
  })
}

function unknownOutcome(why: string): ThroughlineError {
  return new ThroughlineError('team-unreached', `whether it was done is not known: ${why}`, {
    hint: 'Look at the session again before you repeat it.',
  })
}
