import type { ServerResponse } from 'node:http'

/** What a handler gives back. */
export type Answer =
  | { readonly kind: 'json'; readonly text: string | Uint8Array; readonly status?: number }
  /** Of a type of its own. */
  | { readonly kind: 'whole'; readonly status: number; readonly type: string; readonly body: string }
  | {
      readonly kind: 'nothing'
      readonly headers?: Readonly<Record<string, string>>
      /** Called once the answer has left. */
      readonly onSent?: () => void
    }
  | {
      readonly kind: 'stream'
      readonly type: string
      readonly fileName?: string
      readonly pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>
      readonly headers?: Readonly<Record<string, string>>
    }

/** On everything that is sent. There is no CORS header, so no other page reads any of it. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** An answer of the API is data: even when a browser is made to show it, nothing in it runs. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  ...SAFE_HEADERS,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
}

/** Small pieces are put together up to this size. */
const PIECE = 64 * 1024

/**
 * Sends an answer, as fast as it is taken in and no faster. Rejects when its making fails; what was already sent is
 * then cut off, so that nobody takes a half for the whole.
 */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  options: { readonly stallMs: number },
): Promise<void> {
  switch (answer.kind) {
    case 'json':
      sendWhole(response, {
        status: answer.status ?? 200,
        type: 'application/json',
        body: answer.text,
      })
      return
    case 'whole':
      sendWhole(response, answer)
      return
    case 'nothing':
      if (answer.onSent !== undefined) response.once('finish', answer.onSent)
      response.writeHead(204, { ...DATA_HEADERS, ...answer.headers }).end()
      return
    case 'stream':
      await sendPieces(response, answer, options.stallMs)
  }
}

/** Sends something that is already whole. */
export function sendWhole(
  response: ServerResponse,
  whole: {
    readonly status: number
    readonly type: string
    readonly body: string | Uint8Array
    readonly headers?: Readonly<Record<string, string>>
  },
): void {
  response.writeHead(whole.status, {
    ...DATA_HEADERS,
    'content-type': whole.type,
    'content-length': Buffer.byteLength(whole.body),
    ...whole.headers,
  })
  response.end(whole.body)
}

async function sendPieces(
  response: ServerResponse,
  answer: Extract<Answer, { kind: 'stream' }>,
  stallMs: number,
): Promise<void> {
  const headers = {
    ...answer.headers,
    'content-type': answer.type,
    ...(answer.fileName === undefined
      ? {}
      : { 'content-disposition': `attachment; filename="${answer.fileName}"` }),
  }
  let pending = ''
  // No header leaves before there is something to send: an error until then still has its status.
  for await (const piece of answer.pieces) {
    if (typeof piece === 'string') {
      pending += piece
      if (pending.length < PIECE) continue
    }
    if (response.destroyed) return
    if (!response.headersSent) response.writeHead(200, { ...DATA_HEADERS, ...headers })
    if (pending !== '') await write(response, pending, stallMs)
    pending = ''
    if (typeof piece !== 'string') await write(response, piece, stallMs)
  }
  if (response.headersSent) {
    response.end(pending)
    return
  }
  sendWhole(response, { status: 200, type: answer.type, body: pending, headers })
}

async function write(response: ServerResponse, piece: string | Uint8Array, stallMs: number): Promise<void> {
  if (response.destroyed || response.write(piece)) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => response.destroy(), stallMs)
    const done = (): void => {
      clearTimeout(timer)
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.once('drain', done)
    response.once('close', done)
  })
}
