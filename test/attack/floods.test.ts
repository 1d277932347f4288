import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { field, number, object, string } from '#base'
import { runs, seededRandom } from '#testing'
import { createScript } from './script.ts'
import { ask, closeOf, openLive, openTarget, ticketOf, type Live, type Target } from './target.ts'

const SUBSCRIBE = { kind: 'subscribe', subscription: 1, topic: { kind: 'sessions' } }
const MB = 1024 * 1024

/** The cursors of the events a device was told, in their order. */
function cursors({ frames }: Live): readonly number[] {
  return frames
    .map((frame) => object(frame, 'event'))
    .filter((event) => event !== undefined)
    .map((event) => Number(string(event, 'cursor')))
}

function isCaughtUpTo(cursor: number): (frame: unknown) => boolean {
  return (frame) => Number(string(field(frame, 'event'), 'cursor')) >= cursor
}

test('[ATT48] a device that sends ten thousand messages a second is closed with 1008', async () => {
  const target = await openTarget()
  const live = await openLive(target)
  for (let n = 0; n < 10_000; n++) live.send({ kind: 'ping' })
  expect(await live.closed).toBe(1008)
  await sleep(50)
  expect(target.server.devices()).toBe(0)
})

test('[ATT48] a hundred sockets that flood keep nobody else waiting, and take no memory', async () => {
  const script = createScript()
  const target = await openTarget({ throughline: script.throughline })
  const calm = await openLive(target)
  calm.send(SUBSCRIBE)
  await sleep(50)
  const delaysOf = async (count: number): Promise<number> => {
    const delays: number[] = []
    for (let n = 0; n < count; n++) {
      const begun = performance.now()
      script.emit()
      await calm.waitFor(isCaughtUpTo(script.events.length))
      delays.push(performance.now() - begun)
      await sleep(5)
    }
    return delays.toSorted((a, b) => a - b)[Math.floor(count * 0.99) - 1] ?? 0
  }
  const quiet = await delaysOf(100)
  const before = process.memoryUsage().rss
  const tickets = await Promise.all(Array.from({ length: 100 }, async () => await ticketOf(target)))
  const worker = new Worker(FLOODER, { eval: true, workerData: { port: target.port, tickets } })
  onTestFinished(async () => {
    await worker.terminate()
  })
  const codes = new Promise((resolve) => {
    worker.on('message', resolve)
  })
  const during = await delaysOf(100)
  expect(await codes).toEqual(Array.from({ length: 100 }, () => 1008))
  // On a machine that has other things to do the quiet figure is not quiet either.
  expect(during).toBeLessThan(Math.max(250, 4 * quiet))
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB)
})

/** A hundred sockets in a thread of their own, ten thousand messages a second each until they are closed. */
const FLOODER = `
const { parentPort, workerData: { port, tickets } } = require('node:worker_threads')
const { WebSocket } = require('ws')
const codes = []
for (const ticket of tickets) {
  const socket = new WebSocket('ws://127.0.0.1:' + port + '/api/live', ['throughline.v1', 'throughline.' + ticket])
  socket.on('error', () => {})
  socket.on('open', () => {
    const timer = setInterval(() => { for (let n = 0; n < 100; n++) socket.send('{"kind":"ping"}') }, 10)
    socket.on('close', (code) => { clearInterval(timer); if (codes.push(code) === tickets.length) parentPort.postMessage(codes) })
  })
}
`

test('[ATT48] messages that are too long, never end, are compressed or no frames at all are refused', async () => {
  const target = await openTarget()
  const closing = async (attack: (live: Live) => void): Promise<number> => {
    const live = await openLive(target)
    attack(live)
    return await live.closed
  }
  expect(await closing(({ socket }) => socket.send('x'.repeat(MB + 1)))).toBe(1009)
  expect(
    await closing(({ socket }) => {
      for (let n = 0; n < 40; n++) socket.send('x'.repeat(MB / 32), { fin: false })
    }),
  ).toBe(1009)
  expect(
    await closing(({ socket }) => {
      for (let n = 0; n < 20_000; n++) socket.send('', { fin: false })
    }),
  ).toBe(1008)
  expect(await closing(({ socket }) => socket.send(Buffer.from([1, 2, 3])))).toBe(1008)
  for (const text of [
    '',
    'null',
    '[]',
    '{"kind":"subscribe"}',
    '{"kind":"nobody knows"}',
    '['.repeat(100_000),
  ]) {
    expect(await closing(({ socket }) => socket.send(text))).toBe(1008)
  }
  const topic = { kind: 'session', id: '../../etc/passwd' }
  expect(await closing((live) => live.send({ ...SUBSCRIBE, topic }))).toBe(1008)
  expect(
    await closing((live) => {
      live.send(SUBSCRIBE)
      live.send(SUBSCRIBE)
    }),
  ).toBe(1008)

  // Compression is never agreed on, so a bomb cannot even be named.
  const deflating = await openLive(target)
  expect(deflating.socket.extensions).toBe('')
  const raw = await upgradeByHand(target)
  raw.write(Buffer.from([0xc1, 0x80, 0, 0, 0, 0]))
  await closeOf(raw)
  expect((await ask(target, 'GET /api/devices', { token: target.token })).status).toBe(200)
})

async function upgradeByHand(target: Target): Promise<Socket> {
  const socket = connect(target.port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  socket.on('error', () => {})
  const lines = [
    'GET /api/live HTTP/1.1',
    `Host: 127.0.0.1:${target.port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Extensions: permessage-deflate',
    `Sec-WebSocket-Protocol: throughline.v1, throughline.${await ticketOf(target)}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const [head] = await once(socket, 'data')
  expect(String(head)).toMatch(/^HTTP\/1\.1 101/)
  expect(String(head)).not.toMatch(/permessage-deflate/)
  return socket
}

test('[ATT49] whoever sends slowly is cut off, and a thousand idle connections keep nobody out', async () => {
  const target = await openTarget({ limits: { headerMs: 600, requestMs: 1200 } })
  const open = async (
    first: string,
  ): Promise<{ readonly socket: Socket; readonly ended: Promise<string> }> => {
    const socket = connect(target.port, '127.0.0.1')
    onTestFinished(() => {
      socket.destroy()
    })
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (piece) => (text += String(piece)))
    const ended = closeOf(socket).then(() => text)
    await once(socket, 'connect')
    socket.write(first)
    return { socket, ended }
  }
  const drip = async (socket: Socket): Promise<void> => {
    while (!socket.destroyed) {
      socket.write('a')
      await sleep(50)
    }
  }
  const host = `Host: 127.0.0.1:${target.port}`
  const header = await open(`GET / HTTP/1.1\r\n${host}\r\nX-Slow: `)
  const body = await open(
    `POST /api/login HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
  )
  const dripping = [drip(header.socket), drip(body.socket)]
  const idle = await Promise.all(Array.from({ length: 1000 }, async () => await open('')))
  expect((await ask(target, 'GET /api/devices', { token: target.token })).status).toBe(200)
  const noUpgrade = await ask(target, 'GET /api/live', {
    headers: ['Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  })
  expect(noUpgrade.status).toBe(426)

  expect(await header.ended).toMatch(/^HTTP\/1\.1 408 /)
  expect(await body.ended).toMatch(/^HTTP\/1\.1 408 /)
  await Promise.all(dripping)
  await Promise.all(idle.map(async ({ ended }) => await ended))
  expect((await ask(target, 'GET /api/devices', { token: target.token })).status).toBe(200)
})

test('[ATT49] more connections than allowed are turned away; the next one is served once they leave', async () => {
  const target = await openTarget({ limits: { connections: 20 } })
  // The owner's sockets: they were let in, and give way to nobody.
  const live: Live[] = []
  for (let n = 0; n < 20; n++) live.push(await openLive(target))
  // One that says nothing is taken for the moment in which it could, and gives way to the next.
  const late = connect(target.port, '127.0.0.1').on('error', () => {})
  await closeOf(late)
  expect(live.map(({ socket }) => socket.readyState)).toEqual(live.map(() => WebSocket.OPEN))
  live[0]?.socket.terminate()
  await sleep(100)
  expect((await ask(target, 'GET /api/devices', { token: target.token })).status).toBe(200)
})

test('[ATT49] thousands of silent connections of one process, and a flood of them, keep the owner out for no moment', async () => {
  const target = await openTarget({ limits: { connections: 200 } })
  const live = await openLive(target)
  const hold = (): Socket => connect(target.port, '127.0.0.1').on('error', () => {})
  const held = Array.from({ length: 260 }, hold)
  onTestFinished(() => {
    for (const socket of held) socket.destroy()
  })
  await Promise.all(held.map(async (socket) => await once(socket, 'connect')))
  const timed = async (): Promise<number> => {
    const begun = performance.now()
    expect((await ask(target, 'GET /api/devices', { token: target.token })).status).toBe(200)
    return performance.now() - begun
  }
  expect(await timed()).toBeLessThan(2000)
  const enough = new AbortController()
  const flooding = (async () => {
    while (!enough.signal.aborted) {
      for (let n = 0; n < 20; n++) held.push(hold())
      await sleep(10)
    }
  })()
  // A queue of the kernel that overflows makes a client ask again after a second or two.
  for (let n = 0; n < 20; n++) expect(await timed()).toBeLessThan(5000)
  enough.abort()
  await flooding
  expect(live.socket.readyState).toBe(WebSocket.OPEN)
  expect(target.server.failures()).toBe(0)
})

test('[FLT39] a device that takes nothing in is closed with 1013, and loses nothing', async () => {
  const script = createScript()
  const target = await openTarget({ throughline: script.throughline })
  const slow = await openLive(target)
  const quick = await openLive(target)
  slow.send(SUBSCRIBE)
  quick.send(SUBSCRIBE)
  while (script.subscribers() < 2) await sleep(5)
  slow.socket.pause()
  const before = process.memoryUsage().rss
  const text = 'x'.repeat(64 * 1024)
  const isCut = (): boolean => target.log.some((line) => line.includes('"reason":"slow"'))
  for (let n = 0; n < 2000 && !isCut(); n++) {
    script.emit(text)
    await sleep(1)
  }
  expect(isCut()).toBe(true)
  // What is kept for the slow one, and what the quick one has taken in, both in this process.
  const kept = quick.frames.length * text.length
  expect(process.memoryUsage().rss - before - kept).toBeLessThan(50 * MB)
  slow.socket.resume()
  expect(await slow.closed).toBe(1013)
  expect(quick.socket.readyState).toBe(WebSocket.OPEN)

  const seen = cursors(slow)
  script.emit()
  const again = await openLive(target)
  again.send({ ...SUBSCRIBE, cursor: String(seen.at(-1) ?? 0) })
  await again.waitFor(isCaughtUpTo(script.events.length))
  expect([...seen, ...cursors(again)]).toEqual(script.events.map((_, at) => at + 1))
})

test('[FLT40] torn off again and again, a device is told everything once', async () => {
  const script = createScript()
  const target = await openTarget({ throughline: script.throughline })
  const random = seededRandom()
  const told: number[] = []
  const enough = new AbortController()
  const telling = (async () => {
    while (!enough.signal.aborted) {
      for (let n = random.next() * 5; n > 0; n--) script.emit()
      await sleep(random.next() * 3)
    }
  })()
  for (let n = 0; n < (runs(100).numRuns ?? 0); n++) {
    const live = await openLive(target)
    live.send({ ...SUBSCRIBE, ...(told.length === 0 ? {} : { cursor: String(told.at(-1)) }) })
    await sleep(random.next() * 20)
    // Whatever has arrived was taken in; the rest is lost with the socket.
    live.socket.terminate()
    told.push(...cursors(live))
  }
  enough.abort()
  await telling
  const last = await openLive(target)
  last.send({ ...SUBSCRIBE, cursor: String(told.at(-1) ?? 0) })
  if ((told.at(-1) ?? 0) < script.events.length) await last.waitFor(isCaughtUpTo(script.events.length))
  told.push(...cursors(last))
  expect(told).toEqual(script.events.map((_, at) => at + 1))
  // The server hears a little later that the others are gone.
  await expect.poll(() => script.subscribers()).toBe(1)
})

test('[SRV8] a device that does not answer is dropped, one that does is kept', async () => {
  const target = await openTarget({ limits: { pingMs: 100 } })
  const alive = await openLive(target)
  const dead = await upgradeByHand(target)
  expect(target.server.devices()).toBe(2)
  await closeOf(dead)
  await sleep(250)
  expect(target.server.devices()).toBe(1)
  expect(alive.socket.readyState).toBe(WebSocket.OPEN)
})

test('[SRV7] everything of a tick comes in one message', async () => {
  const script = createScript()
  const target = await openTarget({ throughline: script.throughline })
  const live = await openLive(target)
  live.send(SUBSCRIBE)
  while (script.subscribers() < 1) await sleep(5)
  let messages = 0
  live.socket.on('message', () => messages++)
  for (let n = 0; n < 500; n++) script.emit()
  await live.waitFor(isCaughtUpTo(500))
  expect(cursors(live)).toHaveLength(500)
  expect(messages).toBeLessThanOrEqual(3)
  expect(
    live.frames.every((frame) => number(frame, 'subscription') === 1 || string(frame, 'kind') === 'hello'),
  ).toBe(true)
})
