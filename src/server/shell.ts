import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SAFE_HEADERS } from './answer.ts'
import type { Gate } from './guard.ts'
import { SHELL_SCRIPT } from './shell-script.ts'
import { SHELL_STYLE } from './shell-style.ts'

/**
 * The page a person first sees. One document that asks nobody but this server for anything; its own script runs by a
 * nonce that is new each time, and no other.
 */
export function sendShell(request: IncomingMessage, response: ServerResponse, gate: Gate): void {
  const nonce = randomBytes(16).toString('base64')
  const body = toPage(nonce)
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

function toPolicy(nonce: string, socket: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    // Not every browser takes 'self' for the socket too.
    `connect-src 'self' ${socket}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 11c4 0 4-6 8-6h4' fill='none' stroke='%23b4552d' stroke-width='2' stroke-linecap='round'/%3E%3C/svg%3E"

function toPage(nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Throughline</title>
<link rel="icon" href="${ICON}">
<style nonce="${nonce}">${SHELL_STYLE}</style>
</head>
<body>
<a class="skip" href="#results">Skip to the sessions</a>
<header>
  <h1><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 11c4 0 4-6 8-6h4"/></svg>Throughline</h1>
  <p id="status" role="status" aria-live="polite"></p>
</header>
<main>
  <div class="search" role="search" id="search" hidden>
    <label for="query">Search every session</label>
    <input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Search every session" aria-keyshortcuts="/">
    <kbd aria-hidden="true">/</kbd>
  </div>
  <p id="summary" class="summary"></p>
  <ol id="results" tabindex="-1"></ol>
  <section id="notice" hidden><h2></h2><p></p><pre></pre></section>
</main>
<noscript><p class="summary">This page needs JavaScript. The command line does not: <code>throughline ls</code>.</p></noscript>
<script nonce="${nonce}">${SHELL_SCRIPT}</script>
</body>
</html>
`
}
