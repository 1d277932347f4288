import type { Socket } from 'node:net'
import { parseJson } from '#base'
import { MAX_LINE_BYTES } from '#journal'

/** What may wait for somebody who does not read, before they are cut off: they come back with their cursor. */
const UNREAD_BYTES = 64 * 1024 * 1024

export interface LineSocket {
  /** Sends one line. `json` is one already. */
  send(json: string): void
  /** Ends after everything was sent. Resolves when the connection is gone. */
  end(): Promise<void>
  destroy(): void
  readonly closed: Promise<void>
}

/**
 * Lines of JSON over a socket, each told once it is whole. Whoever sends a line that is too long, or none of JSON, or
 * does not read, is cut off. Never throws.
 */
export function createLineSocket(socket: Socket, onLine: (value: unknown) => void): LineSocket {
  let pieces: Buffer[] = []
  let length = 0
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
  // The close that follows says all there is to know.
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk
    for (let at = rest.indexOf(0x0a); at >= 0; at = rest.indexOf(0x0a)) {
      take(Buffer.concat([...pieces, rest.subarray(0, at)]))
      pieces = []
      length = 0
      rest = rest.subarray(at + 1)
      if (socket.destroyed) return
    }
    length += rest.length
    if (length > MAX_LINE_BYTES) socket.destroy()
    else if (rest.length > 0) pieces.push(rest)
  })

  function take(line: Buffer): void {
    const value = parseJson(line.toString('utf8'))
    if (value === undefined) socket.destroy()
    else onLine(value)
  }

  return {
    send(json) {
      if (socket.destroyed || socket.writableEnded) return
      socket.write(`${json}\n`)
      if (socket.writableLength > UNREAD_BYTES) socket.destroy()
    },
    async end() {
      socket.end()
      await closed
    },
    destroy: () => void socket.destroy(),
    closed,
  }
}
