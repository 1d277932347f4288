import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isObject, list, string } from '#base'
import { ROUTES } from '#server'
import type { Route } from '#wire'
import { createScript } from './script.ts'
import { ask, login, openLive, openTarget, ticketOf, type Heard } from './target.ts'

const routes: readonly Route[] = Object.values(ROUTES)
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

function lineOf({ method, path }: Route): string {
  return `${method} ${path.replace(/:\w+/, 'one')}`
}

/** What a refusal may show: all of it but the time. */
function shown({ status, head, body }: Heard): string {
  return `${status}\n${head.replace(/^date:.*$/im, '')}\n${body}`
}

test('[ATT01] without a token every route but the way in answers 401', async () => {
  const target = await openTarget()
  const open = routes.filter(({ auth }) => auth === 'none').map(({ path }) => path)
  expect(open).toEqual(['/api/login', '/api/prove'])
  for (const route of routes.filter(({ auth }) => auth === 'device')) {
    expect([lineOf(route), (await ask(target, lineOf(route))).status]).toEqual([lineOf(route), 401])
  }
  expect((await ask(target, 'POST /api/login', { body: { code: 'guess' } })).status).toBe(401)
  expect((await ask(target, 'POST /api/prove', { body: {} })).status).toBe(400)
  // The shell is a page without data.
  expect((await ask(target, 'GET /')).body).not.toContain('The session one')
})

test('[ATT02] wrong, cut, empty, expired and revoked tokens are refused alike, on every route', async () => {
  const target = await openTarget()
  const expired = await login(target)
  target.clock.now += 31 * DAY
  const revoked = await login(target)
  await ask(target, `DELETE /api/devices/${revoked.id}`, { token: target.token })
  const tokens = [
    'A'.repeat(43),
    target.token.slice(0, -1),
    `${target.token}A`,
    target.token.toUpperCase(),
    expired.token,
    revoked.token,
  ]
  const heard = new Set<string>()
  for (const route of routes.filter(({ auth }) => auth === 'device')) {
    for (const token of tokens) {
      // Guesses are slowed down; that is another test.
      target.clock.now += 2 * MINUTE
      heard.add(shown(await ask(target, lineOf(route), { token })))
    }
    for (const header of [
      'Authorization: Bearer ',
      'Authorization:',
      `Authorization: Basic ${target.token}`,
    ]) {
      heard.add(shown(await ask(target, lineOf(route), { headers: [header] })))
    }
  }
  expect([...heard].map((text) => text.slice(0, 3))).toEqual(['401'])
})

test('[ATT03] a token in the query string is no token, and is logged nowhere', async () => {
  const target = await openTarget()
  for (const name of ['token', 'access_token', 'authorization', 'key']) {
    const { status } = await ask(target, `GET /api/sessions?${name}=${target.token}`)
    expect(status).toBe(401)
  }
  await ask(target, `GET /api/${target.token}`)
  await ask(target, `GET /api/sessions/${target.token}`, { token: target.token })
  expect(target.log.length).toBeGreaterThan(5)
  expect(target.log.join('\n')).not.toContain(target.token)
})

test('[ATT12] no answer ever has a CORS header', async () => {
  const target = await openTarget()
  const origin = 'Origin: http://evil.test'
  const probes = [`Origin: http://127.0.0.1:${target.port}`, origin, 'Origin: null']
  for (const route of routes) {
    const path = lineOf(route).split(' ')[1] ?? ''
    for (const probe of probes) {
      const preflight = await ask(target, `OPTIONS ${path}`, {
        headers: [probe, `Access-Control-Request-Method: ${route.method}`],
      })
      expect(preflight.status).toBe(probe === probes[0] ? 405 : 403)
      const { head } = await ask(target, lineOf(route), { token: target.token, headers: [probe] })
      expect(`${preflight.head}\n${head}`).not.toMatch(/^access-control-/im)
    }
    // `stop`, `logout` and the like do nothing here; the target goes on.
    target.clock.now += MINUTE
  }
})

test('[ATT14] a thousand wrong tokens are slowed down, then turned away; the right one is as fast as ever', async () => {
  const target = await openTarget()
  const timed = async (): Promise<number> => {
    const begun = performance.now()
    expect((await ask(target, 'GET /api/devices', { token: target.token })).status).toBe(200)
    return performance.now() - begun
  }
  const sample = async (): Promise<number> => {
    const times: number[] = []
    for (let n = 0; n < 60; n++) times.push(await timed())
    return times.toSorted((a, b) => a - b)[57] ?? 0
  }
  await sample()
  const before = await sample()

  const statuses = new Map<number, number>()
  const guess = async (): Promise<void> => {
    const { status } = await ask(target, 'GET /api/sessions', { token: 'B'.repeat(43) })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const slow: Promise<void>[] = []
  for (let n = 0; n < 16; n++) slow.push(guess())
  for (let n = 0; n < 984; n++) await guess()
  const during = await sample()
  await Promise.all(slow)

  expect(Object.fromEntries(statuses)).toEqual({ 401: 16, 429: 984 })
  // A figure of a few milliseconds says little on a busy machine.
  expect(during).toBeLessThan(Math.max(2 * before, 25))

  target.clock.now += 2 * MINUTE
  expect((await ask(target, 'GET /api/sessions', { token: 'B'.repeat(43) })).status).toBe(401)
})

test('[ATT15] a one-time code lets exactly one device in, within a minute', async () => {
  const target = await openTarget()
  const codeOf = async (): Promise<string> =>
    string((await ask(target, 'POST /api/codes', { token: target.token })).json, 'code') ?? ''
  const use = async (code: string): Promise<number> =>
    (await ask(target, 'POST /api/login', { body: { code } })).status

  const code = await codeOf()
  const parallel = await Promise.all(Array.from({ length: 8 }, () => use(code)))
  expect(parallel.filter((status) => status === 200)).toHaveLength(1)
  target.clock.now += 2 * MINUTE
  expect(await use(code)).toBe(401)

  const late = await codeOf()
  target.clock.now += 60_001
  expect(await use(late)).toBe(401)
  const timely = await codeOf()
  target.clock.now += 59_999
  expect(await use(timely)).toBe(200)
  expect(list((await ask(target, 'GET /api/devices', { token: target.token })).json, 'devices')).toHaveLength(
    2,
  )
})

test('[ATT15] [SRV9] wrong codes are slowed down like wrong tokens', async () => {
  const target = await openTarget()
  const statuses: number[] = []
  for (let n = 0; n < 20; n++) {
    statuses.push((await ask(target, 'POST /api/login', { body: { code: 'C'.repeat(32) } })).status)
  }
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401))
  expect(statuses.slice(-4)).toEqual([429, 429, 429, 429])
})

test('[ATT16] revoking a device closes its sockets at once and voids its token', async () => {
  const target = await openTarget()
  const device = await login(target)
  const other = await login(target)
  const live = await openLive(target, device.token)
  const staying = await openLive(target, other.token)
  const ticket = await ticketOf(target, device.token)

  const begun = performance.now()
  expect((await ask(target, `DELETE /api/devices/${device.id}`, { token: target.token })).status).toBe(204)
  expect(await live.closed).toBe(4401)
  expect(performance.now() - begun).toBeLessThan(5000)
  expect((await ask(target, 'GET /api/sessions', { token: device.token })).status).toBe(401)
  const late = await ask(target, 'GET /api/live', {
    headers: [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      `Sec-WebSocket-Protocol: throughline.v1, throughline.${ticket}`,
    ],
  })
  expect(late.status).toBe(401)
  expect(staying.socket.readyState).toBe(staying.socket.OPEN)
})

test('[ATT16] a code dies with the device that asked for it, so that a revoked device cannot return as another', async () => {
  const target = await openTarget()
  const lost = await login(target)
  const kept = await login(target)
  const codeOf = async (token: string): Promise<string> =>
    string((await ask(target, 'POST /api/codes', { token })).json, 'code') ?? ''
  const use = async (code: string): Promise<number> =>
    (await ask(target, 'POST /api/login', { body: { code } })).status
  const [first, second, other, own] = [
    await codeOf(lost.token),
    await codeOf(lost.token),
    await codeOf(kept.token),
    await codeOf(target.token),
  ]
  expect((await ask(target, `DELETE /api/devices/${lost.id}`, { token: target.token })).status).toBe(204)
  expect([await use(first), await use(second), await use(other), await use(own)]).toEqual([
    401, 401, 200, 200,
  ])
  // A device that logs itself out is revoked like any other.
  const leaving = await codeOf(kept.token)
  expect((await ask(target, 'POST /api/logout', { token: kept.token })).status).toBe(204)
  expect(await use(leaving)).toBe(401)
})

test('[ATT16] of a code and the revocation of its issuer at the same time, no device is left over', async () => {
  const target = await openTarget()
  for (let n = 0; n < 8; n++) {
    const lost = await login(target)
    const code = string((await ask(target, 'POST /api/codes', { token: lost.token })).json, 'code')
    const [used] = await Promise.all([
      ask(target, 'POST /api/login', { body: { code } }),
      ask(target, `DELETE /api/devices/${lost.id}`, { token: target.token }),
    ])
    // Either it was a device before its issuer was revoked, or it is none.
    const token = string(used.json, 'token')
    const status = token === undefined ? 401 : (await ask(target, 'GET /api/devices', { token })).status
    expect([used.status, status]).toEqual([used.status, used.status])
  }
})

test('[SRV10] an open socket counts as use, and a device that was away for 30 days loses its socket', async () => {
  const target = await openTarget({ limits: { pingMs: 40 } })
  const used = await login(target)
  const live = await openLive(target, used.token)
  for (let day = 0; day < 40; day++) {
    target.clock.now += DAY
    await sleep(60)
  }
  expect(live.socket.readyState).toBe(live.socket.OPEN)
  expect((await ask(target, 'GET /api/devices', { token: used.token })).status).toBe(200)
  target.clock.now += 31 * DAY
  expect(await live.closed).toBe(4401)
})

test('[SRV6] a ticket opens one socket, within half a minute', async () => {
  const target = await openTarget()
  const upgrade = async (protocols: string): Promise<number> => {
    const { status } = await ask(target, 'GET /api/live', {
      headers: [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        `Sec-WebSocket-Protocol: ${protocols}`,
      ],
    })
    return status
  }
  expect(await upgrade('throughline.v1')).toBe(401)
  expect(await upgrade(`throughline.v1, throughline.${'D'.repeat(32)}`)).toBe(401)
  expect(await upgrade(`throughline.${await ticketOf(target)}`)).toBe(400)
  const late = await ticketOf(target)
  target.clock.now += 30_001
  expect(await upgrade(`throughline.v1, throughline.${late}`)).toBe(401)
  // The token itself is no ticket: protocols are written into logs by others.
  expect(await upgrade(`throughline.v1, throughline.${target.token}`)).toBe(401)
  const live = await openLive(target)
  expect(live.frames[0]).toEqual({ kind: 'hello', protocol: 1, version: '0.0.0-test' })
})

test('[ATT59] logging out empties the browser, voids the token, and nothing of the API is kept in a cache', async () => {
  const target = await openTarget()
  const device = await login(target)
  const out = await ask(target, 'POST /api/logout', { token: device.token })
  expect(out.status).toBe(204)
  expect(out.head).toMatch(/^clear-site-data: "cache", "storage"\r?$/im)
  expect((await ask(target, 'GET /api/sessions', { token: device.token })).status).toBe(401)
  for (const route of routes) {
    const { head } = await ask(target, lineOf(route), { token: target.token })
    expect(head).toMatch(/^cache-control: no-store\r?$/im)
    expect(head).not.toMatch(/^service-worker-allowed:|^etag:|^set-cookie:/im)
  }
  // A worker would need a script of this origin.
  for (const path of ['/sw.js', '/service-worker.js', '/api/sw.js']) {
    expect((await ask(target, `GET ${path}`, { token: target.token })).status).toBe(404)
  }
})

test('[FLT51] a handler that throws or rejects fails its own request, is counted, and says nothing of it', async () => {
  const { throughline } = createScript()
  const secret = 'words of a transcript'
  const boom = (): never => {
    throw new TypeError(secret)
  }
  const reject = async (): Promise<never> => await Promise.reject(new RangeError(secret))
  const broken = {
    ...throughline,
    health: reject,
    list: boom,
    get: reject,
    search: boom,
    usage: reject,
    subscribe: boom,
    async *bytes() {
      yield Buffer.alloc(200_000)
      boom()
    },
  }
  const target = await openTarget({ throughline: broken })
  const failing = ['health', 'sessions', 'sessions/one', 'search?q=a', 'usage?by=day', 'sessions/one/entries']
  for (const path of failing) {
    const { status, json, body } = await ask(target, `GET /api/${path}`, { token: target.token })
    expect([path, status, string(json, 'code')]).toEqual([path, 500, 'internal'])
    expect(body).not.toContain(secret)
  }
  const live = await openLive(target)
  live.send({ kind: 'subscribe', subscription: 7, topic: { kind: 'sessions' } })
  const failed = await live.waitFor((frame) => string(frame, 'kind') === 'failed')
  expect(isObject(failed) ? failed['error'] : undefined).toMatchObject({ code: 'internal' })
  expect(JSON.stringify(failed)).not.toContain(secret)
  expect(target.server.failures()).toBe(failing.length + 1)
  expect((await ask(target, 'GET /api/devices', { token: target.token })).status).toBe(200)
})

test('[FLT51] [SRV12] an answer that fails half-way is cut off, not passed off as whole', async () => {
  const { throughline } = createScript()
  const target = await openTarget({
    throughline: {
      ...throughline,
      async *bytes() {
        yield Buffer.alloc(200_000, 'a')
        throw new Error('the disk is gone')
      },
    },
  })
  const { head, body } = await ask(target, 'GET /api/sessions/one/bytes', { token: target.token })
  expect(head).toMatch(/^transfer-encoding: chunked/im)
  expect(body.endsWith('0\r\n\r\n')).toBe(false)
  expect(target.server.failures()).toBe(1)
})
