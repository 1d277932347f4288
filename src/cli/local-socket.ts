import type { SocketConstructor } from '#client'
import { WebSocket } from 'ws'

/** A WebSocket to the daemon on this machine, which has proven to be ours: no certificate says more than that. */
export function createLocalSocket(port: number): SocketConstructor {
  return class LocalSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { rejectUnauthorized: false, headers: { host: `127.0.0.1:${port}` } })
    }
  }
}
