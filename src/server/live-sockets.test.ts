import { once } from 'node:events'
import { createServer } from 'node:http'
import { openThroughline } from '#app'
import { number } from '#base'
import { openTempDir } from '#testing'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { openAccess } from './access.ts'
import { LIMITS } from './limits.ts'
import { createLiveSockets } from './live-sockets.ts'

test('[ATT16] a device that is revoked while its socket is opened gets none', async () => {
  const dir = await openTempDir()
  onTestFinished(() => dir.remove())
  const throughline = await openThroughline({
    env: { CLAUDE_CONFIG_DIR: dir.path, THROUGHLINE_HOME: dir.path },
  })
  onTestFinished(() => throughline.close())
  const access = await openAccess({
    home: dir.path,
    now: Date.now,
    onRevoked: (id) => live.revoke(id),
    onTrouble: () => {},
  })
  onTestFinished(() => access.close())
  const live = createLiveSockets({
    throughline,
    access: {
      ...access,
      // Between the ticket and the socket code may be loaded, and anything happen.
      async redeemTicket(ticket, peer) {
        const caller = await access.redeemTicket(ticket, peer)
        await access.revoke(device.id)
        return caller
      },
    },
    limits: LIMITS,
    version: 'test',
    log: () => {},
    onFailure: () => {},
  })
  onTestFinished(() => live.close())
  const { device } = await access.login(access.issueCode({ kind: 'local' }).word, {
    label: 'phone',
    peer: '',
  })
  const ticket = access.issueTicket({ kind: 'device', device })

  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const taken = new Promise<unknown>((resolve) => {
    server.on('upgrade', (request, socket, head) => {
      live
        .take(request, socket, head)
        .then(() => resolve('taken'), resolve)
        .finally(() => socket.destroy())
    })
  })
  const asking = new WebSocket(`ws://127.0.0.1:${number(server.address(), 'port')}/api/live`, [
    'throughline.v1',
    `throughline.${ticket}`,
  ])
  asking.on('error', () => {})
  expect(await taken).toMatchObject({ status: 401, code: 'not-allowed' })
  expect(live.size).toBe(0)
})
