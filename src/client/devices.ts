import { list } from '#base'
import { expectShape, type Rest } from './rest.ts'

/** What only a daemon has: those who may ask it. */
export interface DeviceCalls {
  /** A code for one login, good for a minute. Give it on in a fragment: that part of an address is never sent. */
  createCode(): Promise<OneTimeCode>
  devices(): Promise<readonly Device[]>
  /** Takes a device's access back: its token is refused from now on, its sockets are closed. */
  revoke(id: string): Promise<void>
  /** Forgets the device that asks. */
  logout(): Promise<void>
  /** Stops the daemon. */
  stop(): Promise<void>
}

export interface OneTimeCode {
  readonly code: string
  readonly expiresAt: string
}

/** Somebody who logged in. */
export interface Device {
  readonly id: string
  readonly label: string
  readonly addedAt: string
  readonly lastSeenAt: string
  /** The one that asks. */
  readonly current: boolean
}

/** The calls about devices, over REST. */
export function createDeviceCalls(rest: Rest): DeviceCalls {
  return {
    createCode: async () =>
      expectShape<OneTimeCode>(await rest.send('POST', '/api/codes'), 'code', 'expiresAt'),
    async devices() {
      const body = await rest.get('/api/devices')
      return list(body, 'devices').map((row) => expectShape<Device>(row, 'id', 'addedAt'))
    },
    async revoke(id) {
      await rest.send('DELETE', `/api/devices/${encodeURIComponent(id)}`)
    },
    async logout() {
      await rest.send('POST', '/api/logout')
    },
    async stop() {
      await rest.send('POST', '/api/stop')
    },
  }
}
