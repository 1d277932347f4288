import { list, string, ThroughlineError } from '#base'
import type { Entry, SessionSummary } from '#model'
import {
  deferCalls,
  fromWireReading,
  PROTOCOL,
  type BytesCodec,
  type CheckReport,
  type Digest,
  type Health,
  type Page,
  type PageOptions,
  type SearchPage,
  type SessionList,
  type Subscription,
  type Throughline,
  type UsageReport,
} from '#wire'
import { createBytesCodec } from './bytes-codec.ts'
import { createDeviceCalls, type DeviceCalls } from './devices.ts'
import { createRemoteLive } from './live-calls.ts'
import { createLiveSocket, type SocketConstructor } from './live-socket.ts'
import { readLongPage, readRemote } from './remote-readings.ts'
import { createRest, expectShape, toError, type Fetch } from './rest.ts'

export interface ConnectOptions {
  /** Where the daemon is: `http://127.0.0.1:4700`. */
  readonly url: string
  /** What `login` gave, or the token of the machine's own command line. */
  readonly token: string
  /** Default: the global one. Node has one from version 22 on; before, give that of `ws`. */
  readonly WebSocket?: SocketConstructor
  /** Default: the global one. */
  readonly fetch?: Fetch
  /** How raw lines are read. Default: with what browsers and Node both have. */
  readonly codec?: BytesCodec
  /** The pause after the first connection that breaks; the next ones are longer. Default: 250. */
  readonly firstPauseMs?: number
  /** The live connection opened, or broke and is being taken up again. */
  readonly onConnection?: (state: 'open' | 'broken') => void
  /** How long an attempt to open the socket may take before it is given up and made again. Default: 10,000. */
  readonly patienceMs?: number
}

const PATIENCE_MS = 10_000

/** Throughline in a daemon, and what only a daemon has: devices. */
export interface RemoteThroughline extends Throughline, DeviceCalls {}

/**
 * Connects to a daemon. Resolves when it has answered, knows the token and speaks the same protocol. Live events come
 * over one socket, which is opened with the first subscription.
 */
export async function connect(options: ConnectOptions): Promise<RemoteThroughline> {
  const { codec = createBytesCodec() } = options
  const { patienceMs = PATIENCE_MS } = options
  const rest = createRest(options)
  const tickets = createRest({ ...options, timeoutMs: patienceMs })
  const live = createLiveSocket({
    url: rest.url,
    getTicket: async () =>
      expectShape<{ ticket: string }>(await tickets.send('POST', '/api/tickets'), 'ticket').ticket,
    // Node has none before version 22, and whoever never subscribes needs none.
    WebSocket: options.WebSocket ?? globalThis.WebSocket,
    codec,
    firstPauseMs: options.firstPauseMs,
    onConnection: options.onConnection,
    patienceMs,
  })

  async function readPage(session: SessionSummary, asked: PageOptions): Promise<Page> {
    const { around, ...others } = asked
    const body = await rest.get(at(session, '/entries'), { ...others, ...around })
    const found = expectShape<Page>(body, 'readings', 'start', 'end', 'atStart', 'atEnd')
    return { ...found, readings: list(body, 'readings').map((one) => fromWireReading(one, codec)) }
  }

  const page = (session: SessionSummary, asked: PageOptions): Promise<Page> =>
    readLongPage(readPage, session, asked)

  async function health(): Promise<Health> {
    return expectShape<Health>(await rest.get('/api/health'), 'version', 'sessions', 'index')
  }

  const { protocol, version } = await health()
  if (protocol !== PROTOCOL) throw otherProtocol(version)

  return {
    ...createDeviceCalls(rest),
    live: createRemoteLive(rest),
    // A page that only reads need not load either.
    memory: deferCalls(async () => (await import('./memory-calls.ts')).createRemoteMemory(rest)),
    restoring: deferCalls(async () => (await import('./restore-calls.ts')).createRemoteRestoring(rest)),
    team: deferCalls(async () => (await import('./team-calls.ts')).createRemoteTeam(rest)),
    health,
    async list({ onProgress: _local, ...filter } = {}) {
      return expectShape<SessionList>(await rest.get('/api/sessions', filter), 'sessions', 'problems')
    },
    async get(query) {
      // Nothing, and dots that an address swallows, are no part of a path. Nobody's session is called that.
      if (/^\s*$|^\.{1,2}$/.test(query)) throw noSuchSession(query)
      return toSummary(await rest.get(`/api/sessions/${encodeURIComponent(query)}`))
    },
    survey: async (session) => toSummary(await rest.get(at(session, '/survey'))),
    async digest(session) {
      return expectShape<Digest>(await rest.get(at(session, '/digest')), 'facts', 'outline', 'branches')
    },
    rename: async (session, name) => toSummary(await rest.send('PATCH', at(session), { name: name ?? null })),
    star: async (session, starred) => toSummary(await rest.send('PATCH', at(session), { starred })),
    async *passages(session, asked = {}) {
      // Who only shows pages, as the web app does, need not have the tree of a conversation.
      const { readRemotePassages } = await import('./remote-passages.ts')
      yield* readRemotePassages(page, session, asked)
    },
    entries: (session) => readRemote(page, session, {}),
    page,
    async conversation(session, { raw } = {}) {
      const body = await rest.get(at(session, '/conversation'), raw === undefined ? {} : { raw })
      return list(body, 'readings').map((one): Entry => {
        const reading = fromWireReading(one, codec)
        if (reading.kind === 'entry') return reading.entry
        throw toError(undefined)
      })
    },
    async check(session) {
      return expectShape<CheckReport>(await rest.get(at(session, '/check')), 'session', 'findings')
    },
    bytes: (session) => rest.stream(at(session, '/bytes')),
    async search(request) {
      return expectShape<SearchPage>(await rest.get('/api/search', { ...request }), 'hits', 'total', 'index')
    },
    async usage({ onProgress: _local, ...asked }) {
      return expectShape<UsageReport>(await rest.get('/api/usage', asked), 'rows', 'total', 'prices')
    },
    async demo(wanted) {
      await rest.send(wanted === 'on' ? 'POST' : 'DELETE', '/api/demo')
    },
    subscribe(topic, asked) {
      if (topic.kind !== 'documents') return live.subscribe(topic, asked)
      let begun: Subscription | undefined
      let isClosed = false
      const begin = async (): Promise<void> => {
        // Most devices never ask for documents: what reads their queries is loaded for those that do.
        const { toReadTopic } = await import('./document-topic.ts')
        if (!isClosed) begun = live.subscribe(toReadTopic(topic), asked)
      }
      begin().catch((error: unknown) =>
        asked.onError?.(error instanceof Error ? error : new Error(String(error))),
      )
      return {
        get cursor() {
          return begun?.cursor ?? asked.cursor
        },
        close() {
          isClosed = true
          begun?.close()
        },
      }
    },
    async close() {
      live.close()
    },
  }
}

function at(session: SessionSummary, what = ''): string {
  return `/api/sessions/${encodeURIComponent(session.id)}${what}`
}

function toSummary(value: unknown): SessionSummary {
  return expectShape<SessionSummary>(value, 'id', 'path', 'workdirs', 'subagents')
}

/** Turns a one-time code into the token of this device, which is to be kept as secret as a password. */
export async function login(options: {
  readonly url: string
  readonly code: string
  /** What this device is called in the list of devices. */
  readonly label?: string
  readonly fetch?: Fetch
}): Promise<string> {
  const { code, label } = options
  const body = await createRest(options).send('POST', '/api/login', {
    code,
    ...(label === undefined ? {} : { label }),
  })
  const token = string(body, 'token')
  if (token === undefined) throw toError(undefined)
  return token
}

function noSuchSession(query: string): ThroughlineError {
  return new ThroughlineError('session-not-found', `no session matches ${JSON.stringify(query)}`, {
    hint: 'See what there is with `throughline ls`, or search names and prompts with `throughline ls --text <words>`.',
  })
}

function otherProtocol(version: string): ThroughlineError {
  return new ThroughlineError('daemon-unreachable', `the daemon (${version}) speaks another protocol`, {
    hint: 'Give both sides the same version, then restart the daemon: `throughline stop`, `throughline`.',
  })
}
