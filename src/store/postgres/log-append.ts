import { createHash } from 'node:crypto'
import { ThroughlineError } from '#base'
import { mayWrite, type Writer } from './access.ts'
import type { Connection, Connections } from './connection.ts'
import { isCollision } from './failure.ts'
import { createStatement } from './statement.ts'
import type { Appended, LogLine } from './team-log.ts'

/** A longer line is a blob: stored once for the team, in pieces. */
const LONGEST_LINE = 256 * 1024
const PIECE_BYTES = 1024 * 1024
/** Of SHA-256. */
const HASH_BYTES = 32
const MOST_TRIES = 5

/** A line, ready to be sent. */
interface Ready {
  readonly line: LogLine
  readonly hash: Buffer
  readonly isBlob: boolean
}

/**
 * Appends, all or nothing. One statement: no lock is held while we are on the way. Whoever does not hear the answer
 * sends the same again.
 */
export async function appendLines(
  connections: Connections,
  lines: readonly LogLine[],
  options: { readonly writer: Writer; readonly channel: string },
): Promise<Appended> {
  if (lines.length === 0) return { added: 0 }
  const ready = lines.map((line): Ready => {
    const hash = createHash('sha256').update(line.bytes).digest()
    return { line, hash, isBlob: line.bytes.length > LONGEST_LINE }
  })
  await checkFiles(connections, lines, options.writer)
  for (const { line, hash, isBlob } of ready) {
    if (isBlob) await putBlob(connections, { team: options.writer.team, hash, bytes: line.bytes })
  }
  for (let tries = 1; ; tries++) {
    try {
      return await putLines(connections, ready, options)
    } catch (error) {
      // Two that send the same lines at once may wait for each other; one of them is told to try again.
      if (tries === MOST_TRIES || !isCollision(error)) throw error
    }
  }
}

async function checkFiles(connection: Connection, lines: readonly LogLine[], writer: Writer): Promise<void> {
  const files = [...new Set(lines.map(({ file }) => file))]
  const statement = createStatement()
  const [row] = await connection.query<{ count: number }>(
    `SELECT count(*) AS count FROM log_file
     WHERE id = ANY(${statement.bind(files)}::bigint[]) AND ${mayWrite('log_file', writer, statement)}`,
    statement.values,
  )
  if (row?.count === files.length) return
  throw new ThroughlineError('not-allowed', 'lines were sent to a file of somebody else', {
    hint: 'Make the file known with putFile first, on the machine it is on.',
  })
}

/**
 * The lines go in first, and only then the clock is asked for numbers: others wait for the little that comes after. The
 * clock stands still where nothing was new.
 */
const PUT_LINES = `
  WITH batch AS MATERIALIZED (SELECT nextval('log_batch_id') AS id),
  put AS (
    INSERT INTO log_line (team, position, file, "offset", batch, length, hash, bytes)
    SELECT $1::integer, position - 1, file, "offset", batch.id, length, substring($2::bytea FROM hash_at FOR ${HASH_BYTES}),
           CASE WHEN bytes_at > 0 THEN substring($3::bytea FROM bytes_at FOR length::integer) END
    FROM unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::integer[], $8::integer[])
      WITH ORDINALITY AS given (file, "offset", length, hash_at, bytes_at, position), batch
    ON CONFLICT DO NOTHING
    RETURNING length
  ),
  clock AS (
    UPDATE team_clock SET last = last + $9::bigint WHERE team = $1::integer AND (SELECT count(*) FROM put) > 0 RETURNING last
  )
  INSERT INTO log_batch (team, last, first, id, bytes)
  SELECT $1::integer, clock.last, clock.last - $9::bigint + 1, batch.id, $10::bigint FROM clock, batch
  RETURNING (SELECT count(*) FROM put) AS added, pg_notify($11::text, $1::integer || ' ' || last)`

async function putLines(
  connection: Connection,
  ready: readonly Ready[],
  { writer, channel }: { readonly writer: Writer; readonly channel: string },
): Promise<Appended> {
  let at = 1
  const places = ready.map(({ line, isBlob }) => {
    if (isBlob) return 0
    const place = at
    at += line.bytes.length
    return place
  })
  const inline = ready.filter(({ isBlob }) => !isBlob).map(({ line }) => line.bytes)
  const [row] = await connection.query<{ added: number }>(PUT_LINES, [
    writer.team,
    Buffer.concat(ready.map(({ hash }) => hash)),
    Buffer.concat(inline),
    ready.map(({ line }) => line.file),
    ready.map(({ line }) => line.offset),
    ready.map(({ line }) => line.bytes.length),
    ready.map((_, n) => n * HASH_BYTES + 1),
    places,
    ready.length,
    at - 1,
    channel,
  ])
  return { added: row?.added ?? 0 }
}

async function putBlob(
  connections: Connections,
  { team, hash, bytes }: { readonly team: number; readonly hash: Buffer; readonly bytes: Buffer },
): Promise<void> {
  const there = await connections.query('SELECT 1 FROM blob WHERE team = $1 AND hash = $2', [team, hash])
  if (there.length > 0) return
  await connections.transact(async (connection) => {
    for (let number = 0; number * PIECE_BYTES < bytes.length; number++) {
      await connection.run('INSERT INTO blob_piece VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', [
        team,
        hash,
        number,
        bytes.subarray(number * PIECE_BYTES, (number + 1) * PIECE_BYTES),
      ])
    }
    await connection.run('INSERT INTO blob VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
      team,
      hash,
      bytes.length,
    ])
  })
}
