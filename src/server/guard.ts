import type { IncomingMessage } from 'node:http'
import { Refusal } from './errors.ts'

/** Who may be meant by a request: names with ports, written as a browser writes them. */
export interface Gate {
  /** `http://` or `https://`: how this server is reached directly. */
  readonly scheme: 'http' | 'https'
  /** Each name of the machine itself, with the port. */
  readonly own: ReadonlySet<string>
  /** Names that a person allowed. A tunnel may speak TLS in front of them. */
  readonly configured: ReadonlySet<string>
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', 'throughline.localhost', '[::1]']

/** The names under which a server is meant. A configured name without a port stands for the usual port and ours. */
export function toGate(options: {
  readonly scheme: 'http' | 'https'
  readonly port: number
  readonly allowedHosts: readonly string[]
}): Gate {
  const { scheme, port } = options
  return {
    scheme,
    own: new Set(LOOPBACK_NAMES.map((name) => `${name}:${port}`)),
    configured: new Set(
      options.allowedHosts
        .map((host) => host.toLowerCase())
        .flatMap((host) => (/:\d+$/.test(host) ? [host] : [host, `${host}:${port}`])),
    ),
  }
}

/**
 * Looks at a request before anything else does, and throws a `Refusal` for one that a browser was talked into sending,
 * that means somebody else, or that is written in a way no client of ours writes.
 */
export function checkRequest(request: IncomingMessage, gate: Gate): void {
  checkVersion(request)
  const host = hostOf(request, gate)
  checkTarget(request)
  checkOrigin(request, gate, host)
  checkFetchSite(request)
}

function hostOf(request: IncomingMessage, gate: Gate): string {
  const hosts = valuesOf(request, 'host')
  const host = hosts[0]?.toLowerCase() ?? ''
  if (hosts.length === 1 && (gate.own.has(host) || gate.configured.has(host))) return host
  throw new Refusal(421, 'not-allowed', {
    message: 'this server does not go by that name',
    hint: 'Use the address that `throughline status` shows, or allow the name with --allow-host.',
  })
}

/** HTTP/1.0 has no `Host`, and proxies that speak it disagree on where a request ends. No client of ours does. */
function checkVersion({ httpVersion }: IncomingMessage): void {
  if (httpVersion === '1.1') return
  throw new Refusal(400, 'request-invalid', {
    message: `HTTP/${httpVersion} is not spoken here`,
    hint: 'Ask with HTTP/1.1.',
  })
}

function checkTarget({ url = '' }: IncomingMessage): void {
  // Printable ASCII from a slash on. Anything else a client would have had to write with percent signs, and a fragment
  // (`#`) never leaves a client.
  if (/^\/[\x21\x22\x24-\x7e]*$/.test(url)) return
  throw new Refusal(400, 'request-invalid', {
    message: 'the target is no path',
    hint: 'Ask for a path that begins with a slash.',
  })
}

function checkOrigin(request: IncomingMessage, gate: Gate, host: string): void {
  const origins = valuesOf(request, 'origin')
  if (origins.length === 0) return
  const isOwn = origins[0] === `${gate.scheme}://${host}`
  const isTunnelled = gate.configured.has(host) && origins[0] === `https://${host}`
  if (origins.length === 1 && (isOwn || isTunnelled)) return
  throw foreign()
}

function checkFetchSite(request: IncomingMessage): void {
  const sites = valuesOf(request, 'sec-fetch-site')
  if (sites.length === 0 || (sites.length === 1 && sites[0] === 'same-origin')) return
  // The page itself is opened by hand, from a bookmark, or from the file that `throughline open` writes, whose origin
  // is none. There is nothing in it to read, and it cannot be framed.
  if (sites.length === 1 && isOpeningThePage(request)) return
  throw foreign()
}

function isOpeningThePage(request: IncomingMessage): boolean {
  return (
    request.method === 'GET' &&
    request.url === '/' &&
    request.headers['sec-fetch-mode'] === 'navigate' &&
    request.headers['sec-fetch-dest'] === 'document'
  )
}

function foreign(): Refusal {
  return new Refusal(403, 'not-allowed', {
    message: 'the request comes from another page',
    hint: 'Open Throughline itself: `throughline open`.',
  })
}

/** Every value of a header as it came in. Node keeps one of several and says nothing. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const found: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) found.push(rawHeaders[at + 1] ?? '')
  }
  return found
}
