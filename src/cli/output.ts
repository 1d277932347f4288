import type { Writable } from 'node:stream'

/** Somewhere to write that is not written faster than it is read. */
export interface Output {
  write(piece: string | Uint8Array): Promise<void>
  /** Sends what was put together so far: for output that a person waits for. */
  flush(): Promise<void>
}

/** The reader went away: `| head`. Not an error. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed'
}

/** Small pieces are put together up to this many characters, so that a line does not cost a system call. */
const BATCH = 32 * 1024

/** A stream that waits for its reader, and says `OutputClosed` when there is none any more. */
export function createOutput(stream: Writable): Output {
  let failure: Error | undefined
  let pending = ''
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failure = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED' ? new OutputClosed() : error
  })

  async function send(piece: string | Uint8Array): Promise<void> {
    if (failure !== undefined) throw failure
    if (piece.length === 0) return
    await new Promise<void>((done) => {
      // The callback comes when the piece has left, or failed to: a slow reader slows us down.
      stream.write(piece, () => done())
    })
    // The stream tells its failure after it has called back.
    if (failure === undefined && stream.destroyed) failure = new OutputClosed()
    if (failure !== undefined) throw failure
  }

  async function flush(): Promise<void> {
    const text = pending
    pending = ''
    await send(text)
  }

  return {
    flush,
    async write(piece) {
      if (typeof piece === 'string') {
        pending += piece
        if (pending.length >= BATCH) await flush()
        return
      }
      await flush()
      await send(piece)
    },
  }
}
