import { connect } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { ThroughlineError } from '#base'
import { openServer } from '#server'
import { openTempDir } from '#testing'
import { createScript } from './script.ts'
import { ask, openTarget, sendRaw, ticketOf } from './target.ts'

test('[ATT04] a request for any other name is answered 421, even with the right token', async () => {
  const { port, token } = await openTarget()
  const others = [
    'evil.test',
    `evil.test:${port}`,
    `127.0.0.1.evil.test:${port}`,
    `localhost.evil:${port}`,
    `0.0.0.0:${port}`,
    `127.0.0.1:${port + 1}`,
    '127.0.0.1',
    `127.0.0.1.:${port}`,
    `localhost.:${port}`,
    `user@127.0.0.1:${port}`,
    `127.0.0.2:${port}`,
    `127.1:${port}`,
    `2130706433:${port}`,
    `0x7f.1:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `::1:${port}`,
    `evil.localhost:${port}`,
    `localhost:${port}:80`,
    `localhost:0${port}`,
    `localhost:${port} `.replace(/ $/, '/'),
    '',
  ]
  for (const host of others) {
    expect([host, (await ask({ port }, 'GET /api/sessions', { token, host })).status]).toEqual([host, 421])
    expect([host, (await ask({ port }, 'GET /', { host })).status]).toEqual([host, 421])
  }
  const ours = ['127.0.0.1', 'localhost', 'LOCALHOST', 'throughline.localhost', '[::1]']
  for (const name of ours) {
    expect((await ask({ port }, 'GET /api/sessions', { token, host: `${name}:${port}` })).status).toBe(200)
  }
})

test('[ATT04] [SRV2] one Host and a path are asked for: two hosts, no host and absolute targets are refused', async () => {
  const { port, token } = await openTarget()
  const own = `127.0.0.1:${port}`
  const send = async (...lines: readonly string[]): Promise<number> =>
    (
      await sendRaw(
        port,
        [...lines, `Authorization: Bearer ${token}`, 'Connection: close', '', ''].join('\r\n'),
      )
    ).status
  expect(await send('GET /api/sessions HTTP/1.1', `Host: ${own}`, 'Host: evil.test')).toBe(421)
  expect(await send('GET /api/sessions HTTP/1.1', `Host: ${own}`, `Host: ${own}`)).toBe(421)
  expect(await send('GET /api/sessions HTTP/1.1')).toBe(400)
  expect(await send('GET /api/sessions HTTP/1.0')).toBe(400)
  expect(await send('GET /api/sessions HTTP/1.0', `Host: ${own}`)).toBe(400)
  expect(await send('GET /api/sessions#fragment HTTP/1.1', `Host: ${own}`)).toBe(400)
  expect(await send('GET /api/sessions?text=%23&limit=1 HTTP/1.1', `Host: ${own}`)).toBe(200)
  expect(await send(`GET http://${own}/api/sessions HTTP/1.1`, `Host: ${own}`)).toBe(400)
  expect(await send('GET http://evil.test/api/sessions HTTP/1.1', `Host: ${own}`)).toBe(400)
  expect(await send('OPTIONS * HTTP/1.1', `Host: ${own}`)).toBe(400)
  expect(await send(`CONNECT ${own} HTTP/1.1`, `Host: ${own}`)).toBe(0)
  // Two lengths are how a request is smuggled past somebody.
  const smuggled = ['Content-Length: 4', 'Transfer-Encoding: chunked']
  expect(await send('POST /api/codes HTTP/1.1', `Host: ${own}`, ...smuggled)).toBe(400)
  expect(await send('GET /api/sessions HTTP/1.1', `Host: ${own}`)).toBe(200)
})

test('[ATT11] only the very origin that is asked may ask', async () => {
  const target = await openTarget()
  const { port, token } = target
  const own = `http://127.0.0.1:${port}`
  const foreign = [
    `http://127.0.0.1:${port}.evil.test`,
    `http://evil.test/127.0.0.1:${port}`,
    `http://127.0.0.1:${port}0`,
    `http://127.0.0.1`,
    `https://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    `http://throughline.localhost:${port}`,
    `http://user@127.0.0.1:${port}`,
    `HTTP://127.0.0.1:${port}`,
    `${own}/`,
    `${own}, ${own}`,
    'http://192.168.0.1',
    'chrome-extension://abcdefghijklmnop',
    'file://',
    'null',
    '',
  ]
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ]
  for (const origin of foreign) {
    const headers = [`Origin: ${origin}`]
    expect([origin, (await ask(target, 'GET /api/sessions', { token, headers })).status]).toEqual([
      origin,
      403,
    ])
    const protocols = `Sec-WebSocket-Protocol: throughline.v1, throughline.${await ticketOf(target)}`
    const { status } = await ask(target, 'GET /api/live', { headers: [...headers, ...upgrade, protocols] })
    expect([origin, status]).toEqual([origin, 403])
  }
  const twice = await ask(target, 'GET /api/sessions', { token, headers: [`Origin: ${own}`, 'Origin: null'] })
  expect(twice.status).toBe(403)
  expect((await ask(target, 'GET /api/sessions', { token, headers: [`Origin: ${own}`] })).status).toBe(200)
})

test('[SRV2] what a browser says about the page that asks must be good', async () => {
  const target = await openTarget()
  const { token } = target
  const status = async (line: string, ...headers: readonly string[]): Promise<number> =>
    (await ask(target, line, { token, headers })).status
  const api = 'GET /api/sessions'
  expect(await status(api, 'Sec-Fetch-Site: same-origin')).toBe(200)
  for (const site of ['cross-site', 'same-site', 'none', 'anything']) {
    expect([site, await status(api, `Sec-Fetch-Site: ${site}`)]).toEqual([site, 403])
  }
  const navigation = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']
  for (const site of ['none', 'cross-site']) {
    expect(await status('GET /', `Sec-Fetch-Site: ${site}`, ...navigation)).toBe(200)
    expect(await status('POST /', `Sec-Fetch-Site: ${site}`, ...navigation)).toBe(403)
    expect(await status(api, `Sec-Fetch-Site: ${site}`, ...navigation)).toBe(403)
    expect(
      await status('GET /', `Sec-Fetch-Site: ${site}`, 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe'),
    ).toBe(403)
    expect(
      await status('GET /', `Sec-Fetch-Site: ${site}`, 'Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty'),
    ).toBe(403)
  }
})

test('[SRV2] bodies are JSON, and no longer than a megabyte', async () => {
  const target = await openTarget()
  const { token } = target
  const change = async (headers: readonly string[], body: string): Promise<number> =>
    (await ask(target, 'PATCH /api/sessions/one', { token, headers, body })).status
  expect(await change(['Content-Type: application/json; charset=utf-8'], '{"starred":true}')).toBe(200)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/jsonx',
    '',
  ]) {
    expect([type, await change([`Content-Type: ${type}`], '{"starred":true}')]).toEqual([type, 415])
  }
  const json = ['Content-Type: application/json']
  for (const body of ['[]', '1', 'null', '{', '{"starred":1}', '{}', '{"name":7}', '{"name":"  "}']) {
    expect([body, await change(json, body)]).toEqual([body, 400])
  }
  expect(await change(json, `{"name":"${'a'.repeat(1024 * 1024)}"}`)).toBe(413)
  const chunked = await sendRaw(
    target.port,
    `PATCH /api/sessions/one HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n${' '.repeat(0x200000)}\r\n0\r\n\r\n`,
  )
  expect(chunked.status).toBe(413)
  expect(
    (await ask(target, 'GET /api/sessions', { token, headers: [`X-Long: ${'x'.repeat(17_000)}`] })).status,
  ).toBe(431)
})

test('[ATT20] an address that others can reach is refused without TLS and allowed names', async () => {
  const dir = await openTempDir()
  const { throughline } = createScript()
  const options = { throughline, home: dir.path, port: 0, now: () => 0, version: '', startedAt: '' }
  try {
    for (const host of [
      '0.0.0.0',
      '::',
      '192.168.1.10',
      '10.0.0.1',
      'example.com',
      '',
      '127.0.0.1.evil.test',
    ]) {
      const opening = openServer({ ...options, host, allowedHosts: ['example.com'] })
      await expect(opening).rejects.toThrow(ThroughlineError)
      await expect(opening).rejects.toMatchObject({ code: 'config-invalid' })
    }
    const tls = { cert: 'none', key: 'none' }
    await expect(openServer({ ...options, host: '0.0.0.0', tls })).rejects.toMatchObject({
      code: 'config-invalid',
    })
  } finally {
    await dir.remove()
  }
})

test('[SRV1] the server listens on 127.0.0.1 only', async () => {
  const { port } = await openTarget()
  const other = connect(port, '127.0.0.2')
  const [error] = await once(other, 'error')
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
})

test('[SRV3] a name that a person allowed is served, also behind a tunnel that speaks TLS', async () => {
  const target = await openTarget({ allowedHosts: ['box.example', 'other.example:8443'] })
  const { token } = target
  const status = async (host: string, origin: string): Promise<number> =>
    (await ask(target, 'GET /api/sessions', { token, host, headers: [`Origin: ${origin}`] })).status
  expect(await status('box.example', 'https://box.example')).toBe(200)
  expect(await status(`box.example:${target.port}`, `http://box.example:${target.port}`)).toBe(200)
  expect(await status('other.example:8443', 'https://other.example:8443')).toBe(200)
  expect(await status('other.example', 'https://other.example')).toBe(421)
  expect(await status('box.example', 'https://evil.example')).toBe(403)
  expect(await status(`127.0.0.1:${target.port}`, `https://127.0.0.1:${target.port}`)).toBe(403)
})
