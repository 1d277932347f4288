import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between two programs on loopback and does to their connections what networks do. */
export interface TcpProxy {
  readonly port: number
  /** Everything takes this much longer from now on. */
  delay(ms: number): void
  /** Nothing comes through, and nobody is told. What is sent meanwhile is gone. */
  fallSilent(): void
  /** New connections come through again. */
  heal(): void
  /** What the client says still arrives; the next answer does not, and the connection ends. */
  cutAtNextAnswer(): void
  close(): Promise<void>
}

/** Opens one in front of a port. */
export async function openTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let isSilent = false
  let delayMs = 0
  let cuts = 0

  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const wasSilent = isSilent
    /** One that met the silence never wakes up, like one whose other end is gone. */
    let isLost = wasSilent
    const pair = [client, upstream]
    for (const socket of pair) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        if (!isLost) for (const other of pair) other.destroy()
      })
    }
    const pass = (to: Socket, bytes: Buffer): void => {
      isLost ||= isSilent
      if (isLost) return
      if (delayMs === 0) to.write(bytes)
      else setTimeout(() => to.write(bytes), delayMs)
    }
    client.on('data', (bytes: Buffer) => pass(upstream, bytes))
    upstream.on('data', (bytes: Buffer) => {
      if (cuts > 0) {
        cuts--
        for (const socket of pair) socket.destroy()
        return
      }
      pass(client, bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    delay: (ms) => {
      delayMs = ms
    },
    fallSilent: () => {
      isSilent = true
    },
    heal: () => {
      isSilent = false
      delayMs = 0
    },
    cutAtNextAnswer: () => {
      cuts++
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
