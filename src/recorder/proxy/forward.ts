import * as http from 'node:http'
import * as https from 'node:https'
import { string } from '#base'
import { hasHeader, pairsOf, toEndToEnd, toReadable } from './hop-headers.ts'
import type { Route } from './routes.ts'

/** Hears what passes, and can hold nothing up. */
export interface Tap {
  /** Whether it has to understand what it hears. */
  readonly listens: boolean
  asked(bytes: Uint8Array): void
  /** The request is whole. */
  askedAll(): void
  /** The answer begins. */
  answering(response: http.IncomingMessage): void
  heard(bytes: Uint8Array): void
  /** It is over: `whole`, or broken off by either side. */
  over(end: 'whole' | 'cut'): void
}

export interface Agents {
  readonly http: http.Agent
  readonly https: https.Agent
}

/** A connection that nobody uses is let go before the other side does it: a request would get lost between the two. */
const IDLE_MS = 4_000

/** Connections to upstreams. Whose certificate is not good is not spoken to. */
export function createAgents(ca: readonly string[] | undefined): Agents {
  const shared = { keepAlive: true, noDelay: true, timeout: IDLE_MS }
  return {
    http: new http.Agent(shared),
    https: new https.Agent({
      ...shared,
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca: [...ca] }),
    }),
  }
}

/**
 * Passes a request on and its answer back: the bytes as they come, nothing held, and no faster than the slower side
 * takes them. Whichever side goes away, the other is told in the same way.
 */
export function forward(
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
  { route, agents, tap, onFailure }: ForwardOptions,
): void {
  const { upstream, target } = route
  const isSecure = upstream.protocol === 'https:'
  const request = (isSecure ? https : http).request({
    agent: isSecure ? agents.https : agents.http,
    host: upstream.hostname.replace(/^\[|\]$/gu, ''),
    port: upstream.port === '' ? (isSecure ? 443 : 80) : upstream.port,
    method: incoming.method,
    path: target,
    headers: toRequestHeaders(incoming, upstream, tap),
    setHost: false,
  })
  let isOver = false
  const over = (end: 'whole' | 'cut'): void => {
    if (isOver) return
    isOver = true
    tap.over(end)
  }

  incoming.on('data', (bytes: Buffer) => {
    if (!request.write(bytes)) incoming.pause()
    tap.asked(bytes)
  })
  request.on('drain', () => incoming.resume())
  incoming.on('end', () => {
    if (incoming.rawTrailers.length > 0) request.addTrailers(toTrailers(incoming))
    request.end()
    tap.askedAll()
  })
  // Who asks and goes away does not want the answer any more.
  outgoing.on('close', () => {
    if (outgoing.writableFinished) return
    over('cut')
    request.destroy()
  })

  request.on('continue', () => outgoing.writeContinue())
  request.on('information', ({ statusCode, headers }) => {
    if (outgoing.headersSent) return
    if (statusCode === 102) outgoing.writeProcessing()
    if (statusCode === 103 && headers['link'] !== undefined)
      outgoing.writeEarlyHints({ link: String(headers['link']) })
  })
  request.on('error', (error) => {
    over('cut')
    if (outgoing.headersSent || outgoing.destroyed || isReset(error)) {
      outgoing.destroy()
      return
    }
    onFailure(error)
  })
  request.on('response', (response) => {
    tap.answering(response)
    outgoing.sendDate = false
    outgoing.writeHead(
      response.statusCode ?? 502,
      response.statusMessage ?? '',
      toEndToEnd(response.rawHeaders),
    )
    outgoing.flushHeaders()
    response.on('data', (bytes: Buffer) => {
      if (!outgoing.write(bytes)) response.pause()
      tap.heard(bytes)
    })
    outgoing.on('drain', () => response.resume())
    response.on('end', () => {
      if (!response.complete) return
      if (response.rawTrailers.length > 0) outgoing.addTrailers(toTrailers(response))
      outgoing.end()
      over('whole')
    })
    response.on('close', () => {
      if (response.complete) return
      over('cut')
      outgoing.destroy()
    })
    response.on('error', () => {})
  })
  outgoing.on('error', () => {})
  incoming.on('error', () => {})
}

export interface ForwardOptions {
  readonly route: Route
  readonly agents: Agents
  readonly tap: Tap
  /** The upstream cannot be asked, and nothing was answered yet. */
  readonly onFailure: (error: Error) => void
}

function toRequestHeaders(incoming: http.IncomingMessage, upstream: URL, { listens }: Tap): string[] {
  const passed = toEndToEnd(incoming.rawHeaders, ['host'])
  const kept = listens ? toReadable(passed) : passed
  const headers = ['Host', upstream.host, ...kept]
  if (hasHeader(kept, 'content-length')) return headers
  if (incoming.headers['transfer-encoding'] !== undefined) return [...headers, 'Transfer-Encoding', 'chunked']
  // Nothing follows, and nothing has to be said of it but where Node would say something else.
  return incoming.method === 'GET' || incoming.method === 'HEAD'
    ? headers
    : [...headers, 'Content-Length', '0']
}

function toTrailers(message: http.IncomingMessage): [string, string][] {
  return pairsOf(message.rawTrailers).map(([name, value]) => [name, value])
}

/** The other side hung up. Whoever is between two passes that on as it is: clients know what to do then. */
function isReset(error: Error): boolean {
  const code = string(error, 'code')
  return code === 'ECONNRESET' || code === 'EPIPE'
}
