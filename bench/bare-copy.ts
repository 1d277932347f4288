import type { Client, Connection, Submittable } from 'pg'

/** What of a connection of `pg` sends the bytes of a COPY. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\u00FF\r\n\0', 'latin1'), Buffer.alloc(8)])
const TRAILER = Buffer.from([0xff, 0xff])
const CHUNK = 64 * 1024

/** Bare `COPY … FROM STDIN` of lines into a table of one column: the least that anybody could do. In milliseconds. */
export async function bareCopy(client: Client, lines: readonly Buffer[]): Promise<number> {
  await client.query('DROP TABLE IF EXISTS bare; CREATE TABLE bare (bytes bytea NOT NULL)')
  const started = performance.now()
  await new Promise<void>((resolve, reject) => {
    const copy = {
      submit: (connection: Connection) => connection.query('COPY bare FROM STDIN (FORMAT binary)'),
      handleCopyInResponse(connection: CopyConnection) {
        for (const chunk of toChunks(lines)) connection.sendCopyFromChunk(chunk)
        connection.endCopyFrom()
      },
      handleRowDescription: () => {},
      handleDataRow: () => {},
      handleCommandComplete: () => {},
      handleReadyForQuery: () => resolve(),
      handleError: (error: Error) => reject(error),
    }
    client.query<Submittable>(copy)
  })
  return performance.now() - started
}

function* toChunks(lines: readonly Buffer[]): Generator<Buffer> {
  let pieces: Buffer[] = [HEADER]
  let size = HEADER.length
  for (const line of lines) {
    const head = Buffer.alloc(6)
    head.writeInt16BE(1, 0)
    head.writeInt32BE(line.length, 2)
    pieces.push(head, line)
    size += 6 + line.length
    if (size < CHUNK) continue
    yield Buffer.concat(pieces)
    pieces = []
    size = 0
  }
  yield Buffer.concat([...pieces, TRAILER])
}
