import { createServer, connect as connectSocket, type Server, type Socket } from 'node:net'
import { parseJson, ThroughlineError } from '#base'
import { connect, createBytesCodec, login, type RemoteThroughline, type SocketConstructor } from '#client'
import { openServer, readSecret, toLocalToken, type RunningServer, type ServerOptions } from '#server'
import { NO_LIVE, NO_MEMORY, NO_RESTORING, NO_TEAM, openTempDir, runs, type TempDir } from '#testing'
import { fromWireReading, type Health, type LiveEvent, type SubscribeOptions, type Throughline } from '#wire'
import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'

const HEALTH: Health = {
  version: 'test',
  protocol: 1,
  pid: 1,
  startedAt: '2026-01-01T00:00:00.000Z',
  sessions: { total: 0, live: [], waitingForYou: 0 },
  index: { state: 'none' },
  archive: { enabled: false, files: 0, bytes: 0, goneSessions: 0 },
  notices: [],
}

/** Numbers from 1 on, as events; a cursor is the last number that was seen. */
interface Counting {
  readonly throughline: Throughline
  readonly listeners: () => number
  /** Tells the next so many numbers. */
  count(howMany: number): void
}

function createCounting(options: { readonly ballast?: number } = {}): Counting {
  const all: LiveEvent[] = []
  const listeners = new Set<SubscribeOptions>()
  const text = 'x'.repeat(options.ballast ?? 0)
  const refuse = (): never => {
    throw new Error('nobody asks for this')
  }
  const throughline: Throughline = {
    live: NO_LIVE,
    memory: NO_MEMORY,
    restoring: NO_RESTORING,
    team: NO_TEAM,
    health: async () => HEALTH,
    list: refuse,
    get: refuse,
    survey: refuse,
    digest: refuse,
    rename: refuse,
    star: refuse,
    passages: refuse,
    entries: refuse,
    page: refuse,
    conversation: refuse,
    check: refuse,
    bytes: refuse,
    search: refuse,
    usage: refuse,
    demo: refuse,
    close: async () => {},
    subscribe(topic, given) {
      if (topic.kind === 'query') {
        throw new ThroughlineError('request-invalid', 'nothing to find', { hint: 'Look elsewhere.' })
      }
      for (const event of all.slice(Number(given.cursor ?? 0))) void given.onEvent(event)
      listeners.add(given)
      return { cursor: undefined, close: () => listeners.delete(given) }
    },
  }
  return {
    throughline,
    listeners: () => listeners.size,
    count(howMany) {
      for (let left = howMany; left > 0; left--) {
        const number = all.length + 1
        const event: LiveEvent = {
          kind: 'reset',
          reason: 'gone',
          cursor: String(number),
          // What makes an event heavy is of no interest here.
          ...(text === '' ? {} : { text }),
        }
        all.push(event)
        for (const { onEvent } of listeners) void onEvent(event)
      }
    },
  }
}

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

async function serve(
  counting: Counting,
  options: Partial<ServerOptions> & { readonly home?: string } = {},
): Promise<RunningServer & { readonly home: string; readonly token: string }> {
  const home = options.home ?? (await tempHome()).path
  const server = await openServer({
    throughline: counting.throughline,
    port: 0,
    now: Date.now,
    version: 'test',
    startedAt: HEALTH.startedAt,
    ...options,
    home,
  })
  undo.push(() => server.close())
  return { ...server, home, token: toLocalToken(await readSecret(home)) }
}

async function tempHome(): Promise<TempDir> {
  const temp = await openTempDir()
  undo.push(() => temp.remove())
  return temp
}

/** A wire that can be cut. */
async function openWire(to: () => number): Promise<{ readonly port: number; cut(): void }> {
  const ends = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = connectSocket(to(), '127.0.0.1')
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        ends.delete(end)
        other.destroy()
      })
      end.pipe(other)
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  undo.push(() => server.close())
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut: () => ends.forEach((end) => end.destroy()),
  }
}

async function join(
  url: string,
  token: string,
  Sockets: SocketConstructor = WebSocket,
): Promise<RemoteThroughline> {
  const remote = await connect({ url, token, WebSocket: Sockets, firstPauseMs: 2 })
  undo.push(() => remote.close())
  return remote
}

/** What was heard, as numbers. */
function hear(remote: Throughline): { readonly heard: number[]; readonly errors: Error[]; close(): void } {
  const heard: number[] = []
  const errors: Error[] = []
  const subscription = remote.subscribe(
    { kind: 'sessions' },
    { onEvent: ({ cursor }) => void heard.push(Number(cursor)), onError: (error) => errors.push(error) },
  )
  return { heard, errors, close: () => subscription.close() }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('it never was so')
    await new Promise((done) => setTimeout(done, 2))
  }
}

function upTo(number: number): readonly number[] {
  return Array.from({ length: number }, (_, at) => at + 1)
}

test('[CLT2] [C4.2] a wire that is cut at any moment costs no event and repeats none', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ count: fc.integer({ min: 0, max: 30 }), cut: fc.boolean(), pause: fc.nat(12) }), {
        minLength: 5,
        maxLength: 25,
      }),
      async (steps) => {
        const counting = createCounting()
        const port = { far: 0 }
        const wire = await openWire(() => port.far)
        const server = await serve(counting, { allowedHosts: [`127.0.0.1:${wire.port}`] })
        port.far = server.port
        const remote = await join(`http://127.0.0.1:${wire.port}`, server.token)
        const [first, second] = [hear(remote), hear(remote)]
        let total = 0
        for (const { count, cut, pause } of steps) {
          counting.count(count)
          total += count
          if (cut) wire.cut()
          await new Promise((done) => setTimeout(done, pause))
        }
        await until(() => first.heard.length >= total && second.heard.length >= total)
        expect([first.heard, second.heard]).toEqual([upTo(total), upTo(total)])
        expect([first.errors, second.errors]).toEqual([[], []])
        for (const step of undo.splice(0).toReversed()) await step()
      },
    ),
    runs(8),
  )
})

test('[CLT2] [C4.2] a daemon that is restarted is found again, and goes on where the other ended', async () => {
  const counting = createCounting()
  const server = await serve(counting)
  const { home, port, token, address } = server
  const remote = await join(address, token)
  const { heard, errors } = hear(remote)
  for (let round = 0; round < 3; round++) {
    counting.count(10)
    await until(() => heard.length === 20 * round + 10)
    if (round === 0) await server.close()
    else await undo.pop()?.()
    counting.count(10)
    await serve(counting, { home, port })
    await until(() => heard.length === 20 * round + 20)
  }
  expect([heard, errors]).toEqual([upTo(60), []])
})

test('[CLT3] one socket serves all subscriptions, from the first to the last', async () => {
  const sockets: WebSocket[] = []
  class Counted extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols)
      sockets.push(this)
    }
  }
  const counting = createCounting()
  const { address, token } = await serve(counting)
  const remote = await join(address, token, Counted)
  expect(sockets).toHaveLength(0)
  const all = [hear(remote), hear(remote), hear(remote)]
  await until(() => counting.listeners() === 3)
  counting.count(2)
  await until(() => all.every(({ heard }) => heard.length === 2))
  all[0]?.close()
  await until(() => counting.listeners() === 2)
  all[1]?.close()
  all[2]?.close()
  await until(() => sockets[0]?.readyState === WebSocket.CLOSED)
  await until(() => counting.listeners() === 0)
  expect(sockets).toHaveLength(1)
  const again = hear(remote)
  await until(() => again.heard.length === 2)
  expect(sockets).toHaveLength(2)
})

test('[CLT4] a device that is revoked is told so, and does not come back', async () => {
  const counting = createCounting()
  const { address, token } = await serve(counting)
  const local = await join(address, token)
  const { code, expiresAt } = await local.createCode()
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now())
  const device = await join(address, await login({ url: address, code, label: 'phone' }))
  const { heard, errors } = hear(device)
  counting.count(1)
  await until(() => heard.length === 1)
  const [known] = await local.devices()
  expect(known).toMatchObject({ label: 'phone', current: false })
  await local.revoke(known?.id ?? '')
  await until(() => errors.length > 0)
  expect(errors).toEqual([expect.objectContaining({ code: 'not-allowed' })])
  await expect(device.health()).rejects.toMatchObject({
    code: 'not-allowed',
    hint: expect.stringMatching(/./),
  })
  await expect(login({ url: address, code })).rejects.toMatchObject({ code: 'not-allowed' })
  await expect(connect({ url: address, token: 'wrong' })).rejects.toMatchObject({ code: 'not-allowed' })
  expect(hear(device).errors).toEqual([])
  expect(await local.devices()).toEqual([])
})

test('[CLT5] a device that is cut off because it is slow goes on from its cursor', async () => {
  const codes: number[] = []
  const sockets: WebSocket[] = []
  class Watched extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols)
      sockets.push(this)
      this.on('close', (code) => codes.push(code))
    }
  }
  const counting = createCounting({ ballast: 100_000 })
  const { address, token } = await serve(counting, { limits: { waitingBytes: 256 * 1024 } })
  const remote = await join(address, token, Watched)
  const { heard, errors } = hear(remote)
  counting.count(1)
  await until(() => heard.length === 1)
  sockets[0]?.pause()
  for (let round = 0; round < 20; round++) {
    counting.count(10)
    await new Promise((done) => setTimeout(done, 20))
  }
  sockets[0]?.resume()
  await until(() => heard.length >= 201)
  expect(heard).toEqual(upTo(201))
  expect(errors).toEqual([])
  expect(codes).toContain(1013)
})

test('[CLT6] a refused subscription ends with the error that was meant, and the others go on', async () => {
  const counting = createCounting()
  const { address, token } = await serve(counting)
  const remote = await join(address, token)
  const { heard } = hear(remote)
  const error = await new Promise<Error>((onError) => {
    remote.subscribe({ kind: 'query', q: 'x' }, { onEvent: () => {}, onError })
  })
  expect(error).toBeInstanceOf(ThroughlineError)
  expect(error).toMatchObject({
    code: 'request-invalid',
    message: 'nothing to find',
    hint: 'Look elsewhere.',
  })
  counting.count(3)
  await until(() => heard.length === 3)
})

test.each([
  ['nobody listens', undefined],
  ['what answers is no daemon', { status: 200, text: '<html>' }],
  ['what answers fails', { status: 502, text: 'Bad gateway' }],
])('[CLT6] %s: that is said, with a next step', async (_, answer) => {
  const failing = connect({
    url: 'http://127.0.0.1:1/',
    token: 't',
    ...(answer && {
      fetch: async () => ({
        ok: answer.status < 300,
        status: answer.status,
        body: null,
        text: async () => answer.text,
      }),
    }),
  })
  await expect(failing).rejects.toMatchObject({
    code: 'daemon-unreachable',
    hint: expect.stringMatching(/./),
  })
})

const ENTRY = { id: 'e', kind: 'unknown', type: 'new', place: { offset: 0, length: 1 } }

test('[CLT7] bytes cross as they are', async () => {
  const codec = createBytesCodec()
  const anyBytes = fc.oneof(
    fc.uint8Array(),
    fc.string({ unit: 'binary' }).map((text) => new TextEncoder().encode(text)),
  )
  await fc.assert(
    fc.asyncProperty(anyBytes, async (bytes) => {
      const reading = { kind: 'entry', entry: ENTRY, raw: codec.toWire(bytes) }
      const crossed = fromWireReading(parseJson(JSON.stringify(reading)), codec)
      expect(crossed.kind === 'entry' && crossed.entry.raw).toEqual(Uint8Array.from(bytes))
    }),
    runs(300),
  )
})
