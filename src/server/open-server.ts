import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { field, ThroughlineError } from '#base'
import type { Notice } from '#wire'
import { openAccess, peerOf, type Access } from './access.ts'
import { DATA_HEADERS, sendAnswer, sendWhole } from './answer.ts'
import { hasBody, readBody } from './body.ts'
import { Refusal, toTold } from './errors.ts'
import { checkRequest, toGate, type Gate } from './guard.ts'
import { createHandlers, type Handler, type ServedThroughline } from './handlers.ts'
import { LIMITS, type Limits } from './limits.ts'
import { createLiveSockets, type LiveSockets } from './live-sockets.ts'
import { toLogFields, type Log } from './log.ts'
import { matchRoute } from './router.ts'
import type { Shell } from './shell.ts'
import { createSilentConnections } from './silent-connections.ts'

export interface ServerOptions {
  /** What is served. It stays the caller's to close. */
  readonly throughline: ServedThroughline
  /** Where secret and devices are kept. */
  readonly home: string
  /** Default 127.0.0.1. Any other than the machine itself needs `tls` and `allowedHosts`. */
  readonly host?: string
  /** 0: any free one. */
  readonly port: number
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Names beside those of the machine itself under which it may be asked. */
  readonly allowedHosts?: readonly string[]
  readonly now: () => number
  readonly version: string
  readonly startedAt: string
  readonly log?: Log
  /** Somebody who may has asked it to stop. */
  readonly onStop?: () => void
  readonly notices?: () => readonly Notice[]
  readonly limits?: Partial<Limits>
}

export interface RunningServer {
  /** `http://127.0.0.1:4700` */
  readonly address: string
  readonly port: number
  /** Requests and subscriptions that failed for a reason that should not be. */
  readonly failures: () => number
  readonly devices: () => number
  /** Lets go of every connection, in at most two seconds. */
  close(): Promise<void>
}

/**
 * Serves a Throughline over HTTP and WebSocket. Resolves when it listens. Whatever a handler does, the process goes on:
 * an error that is not ours is counted, logged, and told as `internal` without a word of it.
 */
export async function openServer(options: ServerOptions): Promise<RunningServer> {
  const host = options.host ?? '127.0.0.1'
  refuseToBeExposed(host, options)
  const limits: Limits = { ...LIMITS, ...options.limits }
  const log: Log = options.log ?? (() => {})
  let failures = 0
  const onFailure = (error: unknown): void => {
    failures++
    log('error', 'failed', toLogFields(error))
  }
  let sockets: LiveSockets | undefined
  const access: Access = await openAccess({
    home: options.home,
    now: options.now,
    onRevoked: (id) => sockets?.revoke(id),
    onTrouble: onFailure,
  })
  const { throughline, version } = options
  const live = (sockets = createLiveSockets({ throughline, access, limits, version, log, onFailure }))
  let gate: Gate | undefined
  let shell: Shell | undefined
  const handlers = createHandlers({
    throughline,
    access,
    port: () => portOf(server),
    version,
    startedAt: options.startedAt,
    notices: () => [...(options.notices?.() ?? []), ...failureNotices()],
    onStop: () => options.onStop?.(),
    onFailure,
  })

  function failureNotices(): readonly Notice[] {
    if (failures === 0) return []
    const message = `${failures} request${failures === 1 ? '' : 's'} failed for a reason that should not be`
    return [{ at: new Date(options.now()).toISOString(), message, hint: 'See `throughline logs`.' }]
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<string> {
    if (gate === undefined) throw notYet()
    checkRequest(request, gate)
    if (request.url === '/api/live') throw needsUpgrade()
    if (request.url?.startsWith('/api/') !== true) {
      // Whoever only asks the API does not wait for the app.
      shell ??= (await import('./shell.ts')).openShell()
      if (shell.send(request, response, gate)) return 'shell'
    }
    const match = matchRoute(request.method ?? '', request.url ?? '')
    const caller = match.route.auth === 'device' ? await access.authenticate(request) : undefined
    if (caller !== undefined) silent.admit(request.socket)
    const body = await readBody(request, match.route.bodyBytes ?? limits.bodyBytes)
    const handler: Handler = handlers[match.name]
    const onGone = (listener: () => void): void => void response.once('close', listener)
    const made = await handler({
      caller,
      peer: peerOf(request),
      id: match.id,
      query: match.query,
      body,
      header: (name) => toText(request.headers[name]),
      onGone,
    })
    await sendAnswer(response, made, limits)
    return match.name
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const begun = performance.now()
    const note = (route: string): void => {
      const ms = Math.round((performance.now() - begun) * 10) / 10
      log('info', 'request', { method: request.method, route, status: response.statusCode, ms })
    }
    // An answer whose reader went away is nobody's error.
    response.on('error', () => {})
    answer(request, response).then(note, (error: unknown) => {
      if (!toTold(error).isKnown && !isReaderGone(request, error)) onFailure(error)
      refuse(request, response, error)
      note('refused')
    })
  }

  const server = await createListener(options, limits, serve)
  const silent = createSilentConnections(server, limits.connections)
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    upgrade(request, socket, head).catch((error: unknown) => {
      const { isKnown, status } = toTold(error)
      if (!isKnown) onFailure(error)
      log('info', 'request', { method: request.method, route: 'live', status })
      refuseUpgrade(socket, error)
    })
  })
  // Bytes that are no HTTP, headers that are too long or too late.
  server.on('clientError', (error, socket) => refuseUpgrade(socket, toClientRefusal(error)))

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (gate === undefined) throw notYet()
    checkRequest(request, gate)
    await live.take(request, socket, head)
    silent.admit(socket)
  }

  try {
    await listen(server, host, options.port)
  } catch (error) {
    await access.close()
    throw error
  }
  const port = portOf(server)
  const scheme = options.tls === undefined ? 'http' : 'https'
  gate = toGate({ scheme, port, allowedHosts: options.allowedHosts ?? [] })

  let closing: Promise<void> | undefined
  return {
    address: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    failures: () => failures,
    devices: () => live.size,
    close: () => (closing ??= shutDown(server, live, access)),
  }
}

async function createListener(
  options: ServerOptions,
  limits: Limits,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const settings = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(1000, limits.headerMs),
    noDelay: true,
  }
  if (options.tls === undefined) return createServer(settings, serve)
  const { createServer: createTlsServer } = await import('node:https')
  return createTlsServer({ ...settings, ...options.tls, minVersion: 'TLSv1.2' }, serve)
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true, backlog: 1024 }, () => {
      server.off('error', reject)
      // Without a free descriptor nobody is let in for a while. That is no reason to die.
      server.on('error', () => {})
      resolve()
    })
  })
}

function toText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join(', ') : value
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const PATIENCE_MS = 1000

async function shutDown(server: Server, live: LiveSockets, access: Access): Promise<void> {
  live.close()
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), PATIENCE_MS)
  await closed
  clearTimeout(timer)
  await access.close()
}

function refuseToBeExposed(host: string, options: ServerOptions): void {
  if (/^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/.test(host)) return
  if (options.tls !== undefined && (options.allowedHosts ?? []).length > 0) return
  throw new ThroughlineError('config-invalid', `${host} can be reached from other machines`, {
    hint: 'Stay on 127.0.0.1 and use a tunnel (ssh -L), or give a certificate, a key and the allowed names.',
  })
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // A half that was sent must not be taken for the whole.
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, body } = toTold(error)
  // What was not read of the request is not waited for.
  const close = hasBody(request) && !request.complete ? { connection: 'close' } : {}
  const headers = { ...(error instanceof Refusal ? error.headers : {}), ...close }
  sendWhole(response, { status, type: 'application/json', body: JSON.stringify(body), headers })
}

/** The same words as `refuse`, to a connection that has no response. */
function refuseUpgrade(socket: Duplex, error: unknown): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, body } = toTold(error)
  const text = JSON.stringify(body)
  const headers = {
    ...DATA_HEADERS,
    ...(error instanceof Refusal ? error.headers : {}),
    connection: 'close',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`, () =>
    socket.destroy(),
  )
}

function toClientRefusal(error: unknown): Refusal {
  const code = field(error, 'code')
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  return new Refusal(status, 'request-invalid', {
    message: 'the request cannot be read, is too long, or came too slowly',
    hint: 'Ask again, with less in the headers.',
  })
}

function isReaderGone(request: IncomingMessage, error: unknown): boolean {
  return (
    request.destroyed && ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(field(error, 'code')))
  )
}

function notYet(): Refusal {
  return new Refusal(503, 'too-many-requests', { message: 'the daemon is starting', hint: 'Try again.' })
}

function needsUpgrade(): Refusal {
  return new Refusal(426, 'request-invalid', {
    message: 'this path is a WebSocket',
    hint: 'Connect to it with a ticket of POST /api/tickets.',
    headers: { upgrade: 'websocket', connection: 'Upgrade' },
  })
}
