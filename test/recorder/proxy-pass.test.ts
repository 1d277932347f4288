import { createHash, randomBytes } from 'node:crypto'
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import * as zlib from 'node:zlib'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { number, list, string, object } from '#base'
import { listenOnLoopback, runs } from '#testing'
import { afterEach, describe, expect, test } from 'vitest'
import { openProxyPlace, SECRET, type ProxyPlace } from './proxy-place.ts'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

async function listen(
  answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Promise<{ url: string; server: Server }> {
  const server = createServer(answer)
  const { port, close } = await listenOnLoopback(server)
  open.push(close)
  return { url: `http://127.0.0.1:${String(port)}`, server }
}

async function openPlace(url: string): Promise<ProxyPlace> {
  const place = await openProxyPlace(url)
  open.push(place.close)
  return place
}

/** A request by hand: its answer as it comes. */
async function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: Buffer } = {},
): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method: options.method ?? 'POST',
      headers: options.headers ?? {},
      agent: false,
    })
    request.on('response', resolve)
    request.on('error', reject)
    request.end(options.body)
  })
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of message) if (Buffer.isBuffer(piece)) pieces.push(piece)
  return Buffer.concat(pieces)
}

const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** An answer of the Messages API, event by event. */
function toEvents(text: string, id = 'msg_1'): string[] {
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  return [
    event('message_start', {
      message: {
        id,
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...text
      .split(/(?<= )/u)
      .map((piece) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }),
    event('message_stop', {}),
  ]
}

const MESSAGE = Buffer.from(
  JSON.stringify({
    model: 'm',
    stream: true,
    tools: [{ name: 't' }],
    messages: [{ role: 'user', content: 'hello' }],
  }),
)
const JSON_HEADERS = { 'content-type': 'application/json', 'content-length': String(MESSAGE.length) }

describe('passing on', () => {
  test('[PRX10] every piece of an answer is there before the next one is sent', async () => {
    const pieces = toEvents('one two three four')
    const taken: (() => void)[] = []
    const { url } = await listen((incoming, outgoing) => {
      incoming.resume()
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      void (async () => {
        for (const piece of pieces) {
          const isTaken = new Promise<void>((resolve) => taken.push(resolve))
          outgoing.write(piece)
          await isTaken
        }
        outgoing.end()
      })()
    })
    const place = await openPlace(url)
    const response = await ask(`${place.proxy.baseUrl('anthropic')}/v1/messages`, {
      headers: JSON_HEADERS,
      body: MESSAGE,
    })
    let got = ''
    let next = 0
    response.setEncoding('utf8')
    for await (const piece of response) {
      got += String(piece)
      // The upstream sends nothing further before this one was seen here.
      while (next < pieces.length && got.length >= pieces.slice(0, next + 1).join('').length)
        taken[next++]?.()
    }
    expect(got).toBe(pieces.join(''))
    await expect.poll(() => place.read()[0]?.length).toBe(2)
    const [said, heard] = place.read()[0] ?? []
    expect(list(object(said, 'message'), 'content')).toEqual([{ type: 'text', text: 'hello' }])
    expect(object(heard, 'message')).toMatchObject({
      id: 'msg_1',
      content: [{ type: 'text', text: 'one two three four' }],
      usage: { input_tokens: 3, output_tokens: 7 },
    })
  })

  test('[PRX10] bytes, statuses, headers and trailers arrive as they were sent, in both directions', async () => {
    const seen: {
      raw: readonly string[]
      body: Buffer
      trailers: readonly string[]
      url: string | undefined
    }[] = []
    let reply: {
      status: number
      headers: readonly string[]
      body: Buffer
      trailers: readonly (readonly [string, string])[]
    } = { status: 200, headers: [], body: Buffer.alloc(0), trailers: [] }
    const { url } = await listen((incoming, outgoing) => {
      void (async () => {
        const body = await bytesOf(incoming)
        seen.push({ raw: incoming.rawHeaders, body, trailers: incoming.rawTrailers, url: incoming.url })
        outgoing.sendDate = false
        outgoing.writeHead(reply.status, reply.headers.slice())
        for (let at = 0; at < reply.body.length; at += 1000)
          outgoing.write(reply.body.subarray(at, at + 1000))
        outgoing.addTrailers(reply.trailers.map(([name, value]): [string, string] => [name, value]))
        outgoing.end()
      })()
    })
    const place = await openPlace(`${url}/base`)
    const names = fc.constantFrom('X-One', 'x-two', 'Set-Cookie', 'CONTENT-type', 'Retry-After')
    const values = fc.stringMatching(/^[a-z0-9 ;=,]{1,20}$/u).map((text) => text.trim() || 'x')
    const headers = fc.array(fc.tuple(names, values), { maxLength: 6 }).map((pairs) => pairs.flat())
    const property = fc.asyncProperty(
      fc.constantFrom(200, 201, 400, 429, 500, 529),
      headers,
      fc.uint8Array({ maxLength: 5000 }),
      fc.uint8Array({ maxLength: 5000 }),
      async (status, given, asked, answered) => {
        reply = { status, headers: given, body: Buffer.from(answered), trailers: [['X-Trail', 'er']] }
        const request = httpRequest(`${place.proxy.baseUrl('anthropic')}/v1/files?x=1&y=%20z`, {
          method: 'PUT',
          agent: false,
          headers: [
            'Host',
            `127.0.0.1:${String(place.proxy.port)}`,
            'X-Ask',
            'Me',
            'x-ask',
            'too',
            'Connection',
            'close, X-Hop',
            'X-Hop',
            'gone',
            'Transfer-Encoding',
            'chunked',
          ],
        })
        const response = new Promise<IncomingMessage>((resolve, reject) => {
          request.on('response', resolve)
          request.on('error', reject)
        })
        request.write(Buffer.from(asked))
        request.addTrailers([['X-Asked', 'all']])
        request.end()
        const got = await response
        const body = await bytesOf(got)
        const last = seen.at(-1)
        expect([got.statusCode, hash(body), got.rawTrailers]).toEqual([
          status,
          hash(reply.body),
          ['X-Trail', 'er'],
        ])
        expect(got.rawHeaders.filter((_, at) => at < given.length)).toEqual(given)
        expect([last?.url, hash(last?.body ?? Buffer.alloc(0)), last?.trailers]).toEqual([
          '/base/v1/files?x=1&y=%20z',
          hash(Buffer.from(asked)),
          ['X-Asked', 'all'],
        ])
        expect(last?.raw.slice(2, 6)).toEqual(['X-Ask', 'Me', 'x-ask', 'too'])
        expect(last?.raw).not.toContain('X-Hop')
        expect(last?.raw[1]).toBe(new URL(url).host)
      },
    )
    await fc.assert(property, runs(40))
  })

  test('[PRX11] whoever goes away, the other side is told, and what was heard is kept', async () => {
    let count = 0
    let gone = (): void => {}
    const isGone = new Promise<void>((resolve) => (gone = resolve))
    const { url } = await listen((incoming, outgoing) => {
      incoming.resume()
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      count += 1
      outgoing.write(
        toEvents('half of it', `msg_${String(count)}`)
          .slice(0, 4)
          .join(''),
      )
      if (incoming.headers['x-cut'] === 'upstream') setImmediate(() => outgoing.destroy())
      else outgoing.on('close', gone)
    })
    const place = await openPlace(url)
    const base = `${place.proxy.baseUrl('anthropic')}/v1/messages`
    const cut = await ask(base, { headers: { ...JSON_HEADERS, 'x-cut': 'upstream' }, body: MESSAGE })
    await expect(bytesOf(cut)).rejects.toThrow('aborted')
    const left = await ask(base, { headers: JSON_HEADERS, body: MESSAGE })
    left.once('data', () => left.destroy())
    await isGone
    await expect.poll(() => place.read().flat().length).toBe(3)
    const outcomes = place
      .read()
      .flat()
      .map((line) => [string(line, 'type'), line['outcome']])
    expect(outcomes).toEqual([
      ['user', undefined],
      ['assistant', 'cut'],
      ['assistant', 'cut'],
    ])
  })

  test('[PRX11] a slow side slows the other down, and nothing piles up in between', async () => {
    const block = randomBytes(64 * 1024)
    let sent = 0
    const { url } = await listen((incoming, outgoing) => {
      incoming.resume()
      outgoing.writeHead(200)
      const more = (): void => {
        if (sent >= 1000) return void outgoing.end()
        sent += 1
        if (outgoing.write(block)) setImmediate(more)
        else outgoing.once('drain', more)
      }
      more()
    })
    const place = await openPlace(url)
    const response = await ask(`${place.proxy.baseUrl('openai')}/files`, { method: 'GET' })
    response.pause()
    // What fits into the buffers of the system is on its way; the rest waits at its source.
    let before = -1
    await expect
      .poll(
        () => {
          const isStill = before === sent
          before = sent
          return isStill
        },
        { interval: 200, timeout: 20_000 },
      )
      .toBe(true)
    expect(sent).toBeLessThan(700)
    expect((await bytesOf(response)).length).toBe(1000 * block.length)
  })

  test('[PRX12] HEAD, 100-continue, early hints and connections that are kept pass as they are', async () => {
    let connections = 0
    const { url, server } = await listen((incoming, outgoing) => {
      incoming.resume()
      if (incoming.url === '/hints') outgoing.writeEarlyHints({ link: '</a>; rel=preload' })
      outgoing.writeHead(200, { 'content-length': '5' })
      outgoing.end(incoming.method === 'HEAD' ? undefined : 'whole')
    })
    server.on('connection', () => (connections += 1))
    let isWaiting = false
    server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      isWaiting = true
      outgoing.writeContinue()
      void bytesOf(incoming).then((body) => outgoing.end(body))
    })
    const place = await openPlace(url)
    const base = place.proxy.baseUrl('gemini')
    const head = await ask(`${base}/x`, { method: 'HEAD' })
    expect([head.statusCode, head.headers['content-length'], (await bytesOf(head)).length]).toEqual([
      200,
      '5',
      0,
    ])
    const hints: unknown[] = []
    const hinted = httpRequest(`${base}/hints`, { method: 'GET', agent: false })
    hinted.on('information', ({ statusCode, headers }) => hints.push(statusCode, headers['link']))
    hinted.end()
    await new Promise<void>((resolve) =>
      hinted.on('response', (message) => message.on('end', resolve).resume()),
    )
    expect(hints).toEqual([103, '</a>; rel=preload'])
    const patient = httpRequest(`${base}/y`, {
      method: 'POST',
      agent: false,
      headers: { expect: '100-continue', 'content-length': '3' },
    })
    const answered = new Promise<IncomingMessage>((resolve) => patient.on('response', resolve))
    patient.flushHeaders()
    await new Promise<void>((resolve) => patient.on('continue', resolve))
    expect(isWaiting).toBe(true)
    patient.end('abc')
    expect((await bytesOf(await answered)).toString()).toBe('abc')
    expect(connections).toBe(1)
  })

  test('[PRX11] a connection that the upstream drops is dropped, and one that it refuses is explained', async () => {
    const raw = createTcpServer((socket: Socket) => socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${String(number(raw.address(), 'port'))}`
    const place = await openPlace(url)
    const target = `${place.proxy.baseUrl('anthropic')}/v1/messages`
    await expect(ask(target, { headers: JSON_HEADERS, body: MESSAGE })).rejects.toThrow(
      /socket hang up|ECONNRESET/u,
    )
    await new Promise((resolve) => raw.close(resolve))
    const refused = await ask(target, { headers: JSON_HEADERS, body: MESSAGE })
    expect([refused.statusCode, (await bytesOf(refused)).toString()]).toEqual([
      502,
      expect.stringContaining('ECONNREFUSED'),
    ])
  })

  test('[PRX10] what an answer is packed in is left to both sides, as long as it can be read', async () => {
    const seen: (string | undefined)[] = []
    const { url } = await listen((incoming, outgoing) => {
      incoming.resume()
      seen.push(string(incoming.headers, 'accept-encoding'))
      outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      outgoing.end(gzipSync(toEvents('packed').join('')))
    })
    const place = await openPlace(url)
    const headers = { ...JSON_HEADERS, 'accept-encoding': 'gzip, br, zstd' }
    const packed = await ask(`${place.proxy.baseUrl('anthropic')}/v1/messages`, { headers, body: MESSAGE })
    expect(gunzipSync(await bytesOf(packed)).toString()).toBe(toEvents('packed').join(''))
    await ask(`${place.proxy.baseUrl('anthropic')}/v1/files`, { headers, body: MESSAGE }).then(bytesOf)
    expect(seen).toEqual(['createZstdDecompress' in zlib ? 'gzip, br, zstd' : 'gzip, br', 'gzip, br, zstd'])
    await expect.poll(() => place.read()[0]?.length).toBe(2)
    expect(JSON.stringify(place.read()[0]?.[1])).toContain('packed')
  })

  test('[PRX8] an answer that cannot be read passes, and is told', async () => {
    const { url } = await listen((incoming, outgoing) => {
      incoming.resume()
      outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'unheard-of' })
      outgoing.end('xyz')
    })
    const place = await openPlace(url)
    const answer = await ask(`${place.proxy.baseUrl('anthropic')}/v1/messages`, {
      headers: JSON_HEADERS,
      body: MESSAGE,
    })
    expect((await bytesOf(answer)).toString()).toBe('xyz')
    await expect.poll(() => place.troubles).toEqual([expect.stringContaining('its answer cannot be read')])
    expect(place.proxy.counts.unread).toBe(1)
  })

  test('[PRX13] Codex is told at once that there is no WebSocket', async () => {
    const place = await openPlace('http://127.0.0.1:9')
    const socket = connect(place.proxy.port, '127.0.0.1')
    socket.write(
      `GET /${SECRET}/openai/responses HTTP/1.1\r\nHost: 127.0.0.1:${String(place.proxy.port)}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n`,
    )
    let got = ''
    for await (const piece of socket) got += String(piece)
    expect(got).toContain('HTTP/1.1 426 ')
  })
})
