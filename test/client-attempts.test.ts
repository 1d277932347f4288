import { createServer } from 'node:http'
import { number } from '#base'
import { connect, type RemoteThroughline } from '#client'
import { afterEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'

const HELLO = { kind: 'hello', protocol: 1, version: 'test' }
const EVENT = { kind: 'event', subscription: 1, event: { kind: 'reset', reason: 'gone', cursor: '1' } }

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

/** What asks for tickets and sockets, and how each is answered. */
interface Script {
  /** Whether the ticket of this number is given; one that is not is not refused either. */
  readonly givesTicket?: (which: number) => boolean
  /** What is done with the socket of this number; without an answer to the upgrade it never opens. */
  readonly onSocket: (which: number, accept: (then: (socket: WebSocket) => void) => void) => void
}

interface Acted {
  readonly url: string
  readonly tickets: () => number
  readonly sockets: () => number
}

/** A daemon as far as the socket of a client is concerned, with a network of its own making. */
async function act(script: Script): Promise<Acted> {
  const asked = { tickets: 0, sockets: 0 }
  const accepting = new WebSocketServer({ noServer: true, handleProtocols: () => 'throughline.v1' })
  const server = createServer((request, response) => {
    if (request.url === '/api/tickets' && script.givesTicket?.(++asked.tickets) === false) return
    const answer =
      request.url === '/api/tickets'
        ? { ticket: 'ticket' }
        : { protocol: 1, version: 'test', sessions: {}, index: {} }
    response.end(JSON.stringify(answer))
  })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    script.onSocket(++asked.sockets, (then) => accepting.handleUpgrade(request, socket, head, then))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  undo.push(() => {
    for (const socket of accepting.clients) socket.terminate()
    server.closeAllConnections()
    server.close()
  })
  const port = number(server.address(), 'port') ?? 0
  return { url: `http://127.0.0.1:${port}`, tickets: () => asked.tickets, sockets: () => asked.sockets }
}

function say(socket: WebSocket, ...frames: readonly object[]): void {
  socket.send(JSON.stringify(frames))
}

/** Far more than an attempt that succeeds takes beside busy cores. */
const PATIENCE_MS = 60_000
/** For attempts that hang: each is waited for. One that would have succeeded may be given up too, and is made again. */
const LITTLE_PATIENCE_MS = 500

async function join(url: string, patienceMs: number = PATIENCE_MS): Promise<RemoteThroughline> {
  const remote = await connect({ url, token: 't', WebSocket, firstPauseMs: 2, patienceMs })
  undo.push(() => remote.close())
  return remote
}

function hear(remote: RemoteThroughline): { readonly heard: string[]; readonly errors: Error[] } {
  const [heard, errors]: [string[], Error[]] = [[], []]
  remote.subscribe(
    { kind: 'sessions' },
    { onEvent: ({ cursor }) => void heard.push(cursor), onError: (error) => errors.push(error) },
  )
  return { heard, errors }
}

async function until(isSo: () => boolean, how: () => unknown = () => undefined): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it never was so: ${JSON.stringify(how())}`)
    await new Promise((done) => setTimeout(done, 2))
  }
}

test('[CLT8] a ticket that never comes is asked for again', async () => {
  const { url, tickets } = await act({
    givesTicket: (which) => which > 2,
    onSocket: (_, accept) => accept((socket) => say(socket, HELLO, EVENT)),
  })
  const { heard, errors } = hear(await join(url, LITTLE_PATIENCE_MS))
  await until(() => heard.length === 1)
  expect(tickets()).toBeGreaterThanOrEqual(3)
  expect(errors).toEqual([])
})

test('[CLT8] a socket that never opens is given up, and the next one is taken', async () => {
  const { url, sockets } = await act({
    onSocket(which, accept) {
      if (which > 2) accept((socket) => say(socket, HELLO, EVENT))
    },
  })
  const { heard, errors } = hear(await join(url, LITTLE_PATIENCE_MS))
  await until(() => heard.length === 1)
  expect(sockets()).toBeGreaterThanOrEqual(3)
  expect(errors).toEqual([])
})

test('[CLT8] whoever stops listening and begins again does not wait for an attempt that hangs', async () => {
  const { url, tickets } = await act({
    givesTicket: (which) => which > 1,
    onSocket: (_, accept) => accept((socket) => say(socket, HELLO, { ...EVENT, subscription: 2 })),
  })
  const remote = await join(url)
  remote.subscribe({ kind: 'sessions' }, { onEvent: () => {} }).close()
  const { heard } = hear(remote)
  await until(() => heard.length === 1)
  expect(tickets()).toBe(2)
})

test('[CLT9] the pauses grow as long as a connection brings nothing but a greeting', async () => {
  const times: number[] = []
  const { url } = await act({
    onSocket(_, accept) {
      times.push(performance.now())
      accept((socket) => {
        say(socket, HELLO)
        socket.close(1011)
      })
    },
  })
  const { errors } = hear(await join(url))
  await until(() => times.length === 9)
  // Half of 2, 4, 8 … 256: the least that eight growing pauses take.
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(250)
  expect(errors).toEqual([])
})

test('[CLT9] after an event the pauses are short again', async () => {
  const times: number[] = []
  const { url, tickets } = await act({
    onSocket: (_, accept) =>
      accept((socket) => {
        times.push(Math.round(performance.now()))
        say(socket, HELLO, EVENT)
        socket.close(1011)
      }),
  })
  const { heard, errors } = hear(await join(url))
  // With pauses that grow, these would take a minute and a half at the least.
  await until(
    () => times.length >= 25,
    () => ({ times, heard: heard.length, tickets: tickets() }),
  )
  expect(errors).toEqual([])
})

test.each([
  ['at once', [HELLO]],
  ['after an event', [HELLO, EVENT]],
])('[CLT9] a client that is refused again and again, %s, is told so and stops', async (_, frames) => {
  const { url, sockets } = await act({
    onSocket: (_which, accept) =>
      accept((socket) => {
        say(socket, ...frames)
        socket.close(1008)
      }),
  })
  const { errors } = hear(await join(url))
  await until(() => errors.length > 0 || sockets() > 20)
  expect(errors).toEqual([
    expect.objectContaining({ code: 'too-many-requests', hint: expect.stringMatching(/./) }),
  ])
  expect(sockets()).toBe(3)
})
