import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { number, string, ThroughlineError } from '#base'
import { findApi } from '../streams/provider-api.ts'
import type { Provider } from '../turn.ts'
import type { ConversationHint } from './conversation-facts.ts'
import type { Conversations } from './conversations.ts'
import { createAgents, forward, type Tap } from './forward.ts'
import { createItemReferences } from '../streams/item-references.ts'
import { listenTo } from './listening.ts'
import { findRefusal, findRoute, type Route, type Upstreams } from './routes.ts'

/** Stands between agents and models on this machine, and passes everything on as it is. */
export interface Proxy {
  readonly port: number
  /** What the base URL of a client of a provider has to be. Whoever knows it can ask: it holds a secret. */
  baseUrl(provider: Provider): string
  readonly counts: ProxyCounts
  /** No more requests are taken; what is being answered is cut off after `graceMs`. Waits until all is recorded. */
  close(graceMs?: number): Promise<void>
}

export interface ProxyCounts {
  /** Requests that were passed on, of whatever kind. */
  readonly requests: number
  /** Answers of models. */
  readonly answers: number
  /** Requests for an answer that could not be understood, and are not recorded. */
  readonly unread: number
}

export interface ProxyOptions {
  readonly upstreams: Upstreams
  readonly conversations: Conversations
  /** A part of every path that nobody can guess. */
  readonly secret: string
  /** Default: any free one. */
  readonly port?: number | undefined
  /** Certificates of authorities beside those that Node knows, as PEM. */
  readonly ca?: readonly string[] | undefined
  /** What is known of whoever asks, where a request does not say it. */
  readonly toHint?: ((hint: ConversationHint) => ConversationHint) | undefined
  /** Something passed that is not recorded; why, for a person. No word of it comes from a request. */
  readonly onUnread?: ((message: string) => void) | undefined
  readonly onAnswer?: (() => void) | undefined
}

/** Opens a proxy that only programs on this machine can reach. */
export async function openProxy(options: ProxyOptions): Promise<Proxy> {
  const { conversations, secret, toHint = (hint) => hint } = options
  const agents = createAgents(options.ca)
  const counts = { requests: 0, answers: 0, unread: 0 }
  const sockets = new Set<Socket>()
  const recording = new Set<Promise<void>>()
  let port = 0

  function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const refusal = findRefusal(incoming.headers, port)
    if (refusal !== undefined) return refuse(outgoing, refusal, REASONS[refusal])
    const { url = '', headers } = incoming
    const route = findRoute(url, { secret, upstreams: options.upstreams, headers })
    if (route === undefined) return refuse(outgoing, 404, 'Nothing is here.')
    counts.requests += 1
    const onFailure = (error: Error): void => refuse(outgoing, 502, describe(error, route))
    forward(incoming, outgoing, { route, agents, onFailure, tap: toTap(incoming, route) })
  }

  const references = createItemReferences()

  function toTap(incoming: IncomingMessage, { target }: Route): Tap {
    const api = findApi(incoming.method ?? '', target)
    if (api === undefined) return DEAF
    return listenTo({
      api,
      path: target,
      headers: incoming.headers,
      conversations,
      references,
      toHint,
      onUnread(why) {
        counts.unread += 1
        options.onUnread?.(`A request passed that is not recorded: ${why}.`)
      },
      onAnswer() {
        counts.answers += 1
        options.onAnswer?.()
      },
      onOver(recorded) {
        recording.add(recorded)
        void recorded.finally(() => recording.delete(recorded))
      },
    })
  }

  const server = createServer({
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 65_000,
    noDelay: true,
  })
  server.on('request', answer)
  server.on('checkContinue', answer)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Codex tries a WebSocket first, and takes plain HTTP at once when it is told this.
  server.on('upgrade', (_, socket: Socket) => {
    socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
  server.on('connect', (_, socket: Socket) => {
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
  server.on('clientError', (_, socket: Socket) => {
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    else socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, options.port)))
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const address = server.address()
  port = number(address, 'port') ?? 0

  return {
    port,
    counts,
    baseUrl: (provider) => `http://127.0.0.1:${String(port)}/${secret}/${provider}`,
    async close(graceMs = 0) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, graceMs)
      await closed
      clearTimeout(timer)
      while (recording.size > 0) await Promise.all(recording)
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

const REASONS = {
  403: 'A page in a browser cannot ask here.',
  421: 'This is asked under its own address only.',
} as const

/** Hears nothing. */
const DEAF: Tap = { listens: false, asked() {}, askedAll() {}, answering() {}, heard() {}, over() {} }

function refuse(outgoing: ServerResponse, status: number, message: string): void {
  outgoing.writeHead(status, STATUS_CODES[status] ?? '', {
    'Content-Type': 'application/json',
    // What was sent with it is not read.
    Connection: 'close',
  })
  outgoing.end(`${JSON.stringify({ error: { type: 'throughline_proxy', message } })}\n`)
}

/** What went wrong with an upstream, without a word of the request. */
function describe(error: Error, { upstream }: Route): string {
  const code = string(error, 'code') ?? 'no reason given'
  return `${upstream.host} cannot be reached through the recording proxy: ${code}.`
}

function cannotListen(error: Error, port: number | undefined): ThroughlineError {
  return new ThroughlineError('config-invalid', `nothing can listen on port ${String(port ?? 0)}`, {
    hint: 'Give another one with --port.',
    cause: error,
  })
}
