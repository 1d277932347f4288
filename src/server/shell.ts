import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SAFE_HEADERS } from './answer.ts'
import type { Gate } from './guard.ts'
import { openSite, type Asset, type Site } from './site.ts'

/** What is served to people: the page of the app and its files. Neither says anything about anybody. */
export interface Shell {
  /** Whether it sent something. */
  send(request: IncomingMessage, response: ServerResponse, gate: Gate): boolean
}

export function openShell(site: Site = openSite()): Shell {
  return {
    send(request, response, gate) {
      if (request.method !== 'GET') return false
      if (request.url === '/') {
        sendPage(request, response, { gate, site })
        return true
      }
      const asset = site.find(request.url ?? '')
      if (asset === undefined) return false
      sendAsset(request, response, asset)
      return true
    },
  }
}

/**
 * The page a person first sees. It asks nobody but this server for anything; its own script runs by a nonce that is
 * new each time, and no other.
 */
function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { gate, site }: { readonly gate: Gate; readonly site: Site },
): void {
  const nonce = randomBytes(16).toString('base64')
  const body = site.page(nonce) ?? NOT_BUILT
  response.writeHead(200, {
    ...SAFE_HEADERS,
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    // The guard has let this name through, so it is one of ours.
    'content-security-policy': toPolicy(
      nonce,
      `${gate.scheme === 'https' ? 'wss' : 'ws'}://${request.headers.host ?? ''}`,
    ),
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  })
  response.end(body)
}

function sendAsset(request: IncomingMessage, response: ServerResponse, asset: Asset): void {
  const isSmall = asset.gzip !== undefined && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  const body = isSmall && asset.gzip !== undefined ? asset.gzip() : asset.body()
  response.writeHead(200, {
    ...SAFE_HEADERS,
    'content-type': asset.type,
    'content-length': body.byteLength,
    // A worker lives by the policy of its own file.
    'content-security-policy': "default-src 'none'; script-src 'self'; frame-ancestors 'none'",
    'cache-control': asset.isForEver ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    ...(isSmall ? { 'content-encoding': 'gzip' } : {}),
  })
  response.end(body)
}

function toPolicy(nonce: string, socket: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    "style-src 'self'",
    "img-src 'self' blob:",
    "worker-src 'self'",
    "manifest-src 'self'",
    // Not every browser takes 'self' for the socket too.
    `connect-src 'self' ${socket}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    // One policy, which lets the app's own workers through by their addresses.
    'trusted-types throughline',
  ].join('; ')
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Throughline</title></head>
<body><h1>The web app was not built</h1><p>Run <code>npm run build</code>, then load this page again.
The command line needs no build: <code>throughline ls</code>.</p></body>
</html>
`
