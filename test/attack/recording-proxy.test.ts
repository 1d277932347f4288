import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { string } from '#base'
import { getUpstream } from '#recorder'
import { listenOnLoopback, openModelApi, openTempDir } from '#testing'
import { afterEach, describe, expect, test } from 'vitest'
import { openProxyPlace, SECRET, type ProxyPlace } from '../recorder/proxy-place.ts'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

/** An upstream that counts what reaches it. */
async function openUpstream(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`)
    incoming.resume()
    outgoing.end('{}')
  })
  const { port, close } = await listenOnLoopback(server)
  open.push(close)
  return { url: `http://127.0.0.1:${String(port)}/base`, asked }
}

async function openPlace(url: string, ca?: readonly string[]): Promise<ProxyPlace> {
  const place = await openProxyPlace(url, ca === undefined ? {} : { ca })
  open.push(place.close)
  return place
}

/** Says these bytes, and hears what comes back until the connection ends or is still. */
async function say(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(1500, () => socket.destroy())
  socket.on('error', () => {})
  socket.write(text)
  let heard = ''
  socket.setEncoding('latin1')
  socket.on('data', (piece: string) => {
    heard += piece
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return heard
}

const status = (heard: string): number => Number(/^HTTP\/1\.1 (\d+)/u.exec(heard)?.[1] ?? 0)

describe('who may ask', () => {
  test('[PRX14] nothing leaves the upstream that is set, and nobody is let through without the secret', async () => {
    const upstream = await openUpstream()
    const { proxy } = await openPlace(upstream.url)
    const host = `Host: 127.0.0.1:${String(proxy.port)}\r\nConnection: close\r\n\r\n`
    const attempts: readonly (readonly [string, number])[] = [
      [`GET / HTTP/1.1\r\n${host}`, 404],
      [`GET /anthropic/v1/models HTTP/1.1\r\n${host}`, 404],
      [`GET /${SECRET.slice(0, -1)}/anthropic/v1/models HTTP/1.1\r\n${host}`, 404],
      [`GET /${SECRET}x/anthropic/v1/models HTTP/1.1\r\n${host}`, 404],
      [`GET /${SECRET}/elsewhere/v1/models HTTP/1.1\r\n${host}`, 404],
      [`GET /${SECRET}/anthropic/../../admin HTTP/1.1\r\n${host}`, 404],
      [`GET /${SECRET}/anthropic/%2e%2E/admin HTTP/1.1\r\n${host}`, 404],
      [`GET /${SECRET}/anthropic/a%2f..%2fb HTTP/1.1\r\n${host}`, 404],
      [`GET /${SECRET}/anthropic\\..\\admin HTTP/1.1\r\n${host}`, 404],
      [`GET /x/../${SECRET}/anthropic/v1/models HTTP/1.1\r\n${host}`, 404],
      [`GET http://other.example/${SECRET}/anthropic/v1/models HTTP/1.1\r\n${host}`, 404],
      [`GET //other.example/${SECRET}/anthropic HTTP/1.1\r\n${host}`, 404],
      [`CONNECT other.example:443 HTTP/1.1\r\n${host}`, 405],
      [`OPTIONS * HTTP/1.1\r\n${host}`, 404],
    ]
    for (const [text, expected] of attempts)
      expect([text, status(await say(proxy.port, text))]).toEqual([text, expected])
    expect(upstream.asked).toEqual([])
    await say(proxy.port, `GET /${SECRET}/anthropic/v1/models?a=../b HTTP/1.1\r\n${host}`)
    expect(upstream.asked).toEqual(['GET /base/v1/models?a=../b'])
  })

  test('[PRX14] pages in a browser, and names that lead here from elsewhere, are refused', async () => {
    const upstream = await openUpstream()
    const { proxy } = await openPlace(upstream.url)
    const port = String(proxy.port)
    const get = `GET /${SECRET}/anthropic/v1/models HTTP/1.1\r\nConnection: close\r\n`
    const attempts: readonly (readonly [string, number])[] = [
      [`Host: evil.example\r\n`, 421],
      [`Host: evil.example:${port}\r\n`, 421],
      [`Host: 127.0.0.1.evil.example:${port}\r\n`, 421],
      [`Host: 127.0.0.1:1\r\n`, 421],
      [`Host: 127.0.0.1:${port}\r\nOrigin: https://evil.example\r\n`, 403],
      [`Host: 127.0.0.1:${port}\r\nOrigin: null\r\n`, 403],
      [`Host: 127.0.0.1:${port}\r\nSec-Fetch-Site: cross-site\r\n`, 403],
    ]
    for (const [head, expected] of attempts)
      expect([head, status(await say(proxy.port, `${get}${head}\r\n`))]).toEqual([head, expected])
    const preflight = `OPTIONS /${SECRET}/anthropic/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n`
    const heard = await say(proxy.port, preflight)
    expect(status(heard)).toBe(403)
    expect(heard.toLowerCase()).not.toContain('access-control-allow')
    expect(upstream.asked).toEqual([])
    expect(status(await say(proxy.port, `${get}Host: localhost:${port}\r\n\r\n`))).toBe(200)
  })

  test('[PRX15] what two readers could read differently is read by nobody', async () => {
    const upstream = await openUpstream()
    const { proxy } = await openPlace(upstream.url)
    const head = `POST /${SECRET}/anthropic/v1/x HTTP/1.1\r\nHost: 127.0.0.1:${String(proxy.port)}\r\n`
    const hidden = `GET /${SECRET}/anthropic/hidden HTTP/1.1\r\nHost: 127.0.0.1:${String(proxy.port)}\r\n\r\n`
    const attempts = [
      `${head}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde${hidden}`,
      `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}Content-Length: +3\r\n\r\nabc${hidden}`,
      `${head}X-A: b\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `${head}X-Long: ${'x'.repeat(200_000)}\r\n\r\n`,
    ]
    for (const text of attempts) {
      const code = status(await say(proxy.port, text))
      expect([text.slice(0, 160), code === 400 || code === 431 || code === 0]).toEqual([
        text.slice(0, 160),
        true,
      ])
    }
    expect(upstream.asked.filter((line) => line.includes('hidden'))).toEqual([])
    expect(status(await say(proxy.port, `${head}Content-Length: 0\r\nConnection: close\r\n\r\n`))).toBe(200)
  })
})

describe('keys', () => {
  test('[PRX16] keys pass to the upstream and stand in no file and no word', async () => {
    const api = await openModelApi(() => [{ kind: 'text', text: 'Fine.' }])
    open.push(() => api.close())
    const place = await openPlace(api.url)
    const keys = Array.from({ length: 6 }, () => `sk-planted-${randomBytes(12).toString('hex')}`)
    const [bearer = '', key = '', google = '', query = '', cookie = '', path = ''] = keys
    const body = JSON.stringify({
      model: 'm',
      stream: true,
      tools: [{ name: 't' }],
      messages: [{ role: 'user', content: 'hello' }],
    })
    const ask = async (
      headers: Record<string, string>,
      target = `/v1/messages?key=${query}`,
    ): Promise<string> => {
      const response = await fetch(`${place.proxy.baseUrl('anthropic')}${target}`, {
        method: 'POST',
        body,
        headers,
      })
      return await response.text()
    }
    expect(
      await ask({
        authorization: `Bearer ${bearer}`,
        'x-api-key': key,
        'x-goog-api-key': google,
        cookie: `a=${cookie}`,
      }),
    ).toContain('message_stop')
    // What cannot be understood, and what cannot be reached, is told without a word of it.
    await fetch(`${place.proxy.baseUrl('anthropic')}/v1/messages?key=${query}`, {
      method: 'POST',
      body: `${path} is no JSON`,
      headers: { 'x-api-key': key },
    })
    const [first] = api.requests
    expect([
      first?.headers['authorization'],
      first?.headers['x-api-key'],
      first?.headers['x-goog-api-key'],
      first?.headers['cookie'],
      first?.path,
    ]).toEqual([`Bearer ${bearer}`, key, google, `a=${cookie}`, `/v1/messages?key=${query}`])
    await expect.poll(() => place.read()[0]?.length).toBe(2)
    await expect.poll(() => place.troubles.length).toBe(1)
    await api.close()
    // A connection that was open may still be dropped first.
    const again = (): Promise<string> => ask({ authorization: `Bearer ${bearer}` })
    const refused = await again().catch(again)
    const written = filesBelow(place.root)
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n')
    expect(written).toContain('hello')
    for (const secret of keys)
      expect([written, ...place.troubles, refused].some((text) => text.includes(secret))).toBe(false)
  })

  test('[PRX17] keys go to other machines only under a certificate', () => {
    for (const url of [
      'http://api.example',
      'http://10.0.0.1/v1',
      'ftp://127.0.0.1',
      'https://user:key@api.example',
      'https://api.example?key=x',
      'nonsense',
    ])
      expect(() => getUpstream(url)).toThrow('requests cannot go on')
    expect(getUpstream('http://127.0.0.1:1234/x').href).toBe('http://127.0.0.1:1234/x')
    expect(getUpstream('http://10.0.0.1/v1', { plain: 'anywhere' }).host).toBe('10.0.0.1')
    try {
      getUpstream('https://user:sk-secret@api.example')
    } catch (error) {
      expect(String(error)).not.toContain('sk-secret')
    }
  })

  test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
    '[PRX17] an upstream whose certificate nobody vouches for is not asked',
    async () => {
      const dir = await openTempDir()
      open.push(() => dir.remove())
      const [certFile, keyFile] = [join(dir.path, 'cert.pem'), join(dir.path, 'key.pem')]
      execFileSync(
        'openssl',
        [
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:prime256v1',
          '-nodes',
          '-days',
          '1',
          '-subj',
          '/CN=127.0.0.1',
          '-addext',
          'subjectAltName=IP:127.0.0.1',
          '-keyout',
          keyFile,
          '-out',
          certFile,
        ],
        { stdio: 'ignore' },
      )
      const cert = readFileSync(certFile, 'utf8')
      const asked: string[] = []
      const server = createSecureServer({ cert, key: readFileSync(keyFile) }, (incoming, outgoing) => {
        asked.push(string(incoming.headers, 'x-api-key') ?? '')
        outgoing.end('hello')
      })
      const { port, close } = await listenOnLoopback(server)
      open.push(close)
      const url = `https://127.0.0.1:${String(port)}`
      const ask = async ({ proxy }: ProxyPlace): Promise<readonly [number | undefined, string]> =>
        await new Promise((resolve, reject) => {
          const sent = httpRequest(
            `${proxy.baseUrl('anthropic')}/v1/models`,
            { headers: { 'x-api-key': 'k' }, agent: false },
            (answer) => {
              let text = ''
              answer.on('data', (piece: Buffer) => (text += piece.toString()))
              answer.on('end', () => resolve([answer.statusCode, text]))
            },
          )
          sent.on('error', reject).end()
        })
      const [code, why] = await ask(await openPlace(url))
      expect([code, why]).toEqual([502, expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/u)])
      expect(asked).toEqual([])
      expect(await ask(await openPlace(url, [...rootCertificates, cert]))).toEqual([200, 'hello'])
      expect(asked).toEqual(['k'])
    },
  )
})

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
}
