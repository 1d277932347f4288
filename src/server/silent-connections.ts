import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { field } from '#base'

/** Connections that have not shown yet that they may be here. */
export interface SilentConnections {
  /** Whoever is behind this connection was let in: it stays until it is closed. */
  admit(connection: Duplex): void
}

/** So many are in the kernel's queue at most while room is made. */
const SPARE = 64

/**
 * Keeps room for those who may come in. Everybody on a machine comes from the same address, so nobody can be told from
 * the owner before they have said something. When there are as many connections as allowed, the one that has said
 * nothing good for the longest gives way to the new one: its owner says something within milliseconds, and a flood of
 * silent ones only pushes out itself.
 */
export function createSilentConnections(server: Server, most: number): SilentConnections {
  const silent = new Map<string, Socket>()
  let count = 0
  server.maxConnections = most + SPARE
  server.on('connection', (socket: Socket) => {
    count++
    const name = nameOf(socket)
    silent.set(name, socket)
    socket.once('close', () => {
      count--
      if (silent.get(name) === socket) silent.delete(name)
    })
    if (count <= most) return
    const [oldest] = silent.values()
    oldest?.destroy()
  })
  return {
    admit: (connection) => void silent.delete(nameOf(connection)),
  }
}

/** A connection and the same one under TLS are two objects with one other end. */
function nameOf(connection: Duplex): string {
  return `${String(field(connection, 'remoteAddress'))} ${String(field(connection, 'remotePort'))}`
}
