import { createHash } from 'node:crypto'
import type { Connection, Connections } from './connection.ts'
import { isCollision } from './failure.ts'
import { HASH_BYTES } from './log-functions.ts'
import type { Entered } from './members.ts'
import type { Appended, LogLine } from './team-log.ts'

/** A longer line is a blob: stored once for the team, in pieces. */
const LONGEST_LINE = 256 * 1024
const PIECE_BYTES = 1024 * 1024
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
  writer: Entered,
): Promise<Appended> {
  if (lines.length === 0) return { added: 0 }
  const ready = lines.map((line): Ready => {
    const hash = createHash('sha256').update(line.bytes).digest()
    return { line, hash, isBlob: line.bytes.length > LONGEST_LINE }
  })
  for (const { line, hash, isBlob } of ready) {
    if (isBlob) await putBlob(connections, writer, { hash, bytes: line.bytes })
  }
  for (let tries = 1; ; tries++) {
    try {
      return await putLines(connections, ready)
    } catch (error) {
      // Two that send the same lines at once may wait for each other; one of them is told to try again.
      if (tries === MOST_TRIES || !isCollision(error)) throw error
    }
  }
}

async function putLines(connection: Connection, ready: readonly Ready[]): Promise<Appended> {
  let at = 1
  const places = ready.map(({ line, isBlob }) => {
    if (isBlob) return 0
    const place = at
    at += line.bytes.length
    return place
  })
  const inline = ready.filter(({ isBlob }) => !isBlob).map(({ line }) => line.bytes)
  const [row] = await connection.query<{ added: number }>(
    'SELECT append_lines($1, $2, $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::integer[]) AS added',
    [
      Buffer.concat(ready.map(({ hash }) => hash)),
      Buffer.concat(inline),
      ready.map(({ line }) => line.file),
      ready.map(({ line }) => line.offset),
      ready.map(({ line }) => line.bytes.length),
      ready.map((_, n) => n * HASH_BYTES + 1),
      places,
    ],
  )
  return { added: row?.added ?? 0 }
}

/**
 * Sends a long line. That there is one of the same name is not believed to be enough: who has not sent all of it does
 * not get a line of it, or he could read what he knows the name of.
 */
async function putBlob(
  connections: Connections,
  { team, person, origin }: Entered,
  { hash, bytes }: { readonly hash: Buffer; readonly bytes: Buffer },
): Promise<void> {
  const held = await connections.query(
    'SELECT 1 FROM blob_holder WHERE team = $1 AND hash = $2 AND owner = $3',
    [team, hash, person],
  )
  if (held.length > 0) return
  const pieces = Math.ceil(bytes.length / PIECE_BYTES)
  await connections.transact(async (connection) => {
    await connection.run('DELETE FROM blob_upload WHERE team = $1 AND origin = $2 AND hash = $3', [
      team,
      origin,
      hash,
    ])
    for (let number = 0; number < pieces; number++) {
      await connection.run('INSERT INTO blob_upload VALUES ($1, $2, $3, $4, $5, $6)', [
        team,
        person,
        origin,
        hash,
        number,
        bytes.subarray(number * PIECE_BYTES, (number + 1) * PIECE_BYTES),
      ])
    }
    await connection.run('SELECT keep_blob($1, $2)', [hash, pieces])
  })
}
