import type { Server } from 'node:http'
import { number } from '#base'

/** A server of a test, on this machine only. */
export interface LoopbackServer {
  readonly port: number
  /** Ends it with all its connections. */
  readonly close: () => Promise<void>
}

/** Lets a server listen on a free port. */
export async function listenOnLoopback(server: Server): Promise<LoopbackServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: number(server.address(), 'port') ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
