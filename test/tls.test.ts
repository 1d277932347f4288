import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { get, request } from 'node:https'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { chromium } from 'playwright-core'
import { string } from '#base'
import { openServer, readSecret, toLocalToken, type RunningServer } from '#server'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { createScript } from './attack/script.ts'
import { CHROMIUM } from './web/app-browser.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

let dir: TempDir
let server: RunningServer
let token: string
let cert: string
/** For a name that nobody has, good for a day. */
const NEW_CERTIFICATE =
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=desk.example -addext subjectAltName=DNS:desk.example,IP:127.0.0.1'.split(
    ' ',
  )

interface Told {
  readonly status: number
  readonly body: string
}

function ask(path: string, headers: Readonly<Record<string, string>>): Promise<Told> {
  return new Promise((resolve, reject) => {
    const sent = get(
      {
        host: '127.0.0.1',
        port: server.port,
        path,
        headers,
        ca: cert,
        servername: 'desk.example',
        agent: false,
      },
      (answer) => {
        let body = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece: string) => (body += piece))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
      },
    )
    sent.on('error', reject)
  })
}

describe.skipIf(!hasOpenssl)('with a certificate', () => {
  beforeEach(async () => {
    dir = await openTempDir()
    const key = join(dir.path, 'key.pem')
    const made = join(dir.path, 'cert.pem')
    execFileSync('openssl', [...NEW_CERTIFICATE, '-keyout', key, '-out', made], { stdio: 'ignore' })
    cert = readFileSync(made, 'utf8')
    const home = join(dir.path, 'home')
    server = await openServer({
      throughline: createScript({ tellsList: true }).throughline,
      home,
      port: 0,
      tls: { cert, key: readFileSync(key, 'utf8') },
      allowedHosts: ['desk.example'],
      now: Date.now,
      version: 'test',
      startedAt: '',
    })
    token = toLocalToken(await readSecret(home))
  })
  afterEach(async () => {
    await server.close()
    await dir.remove()
  })

  test('[SRV17] with a certificate everything is said over TLS 1.2 or later, and nothing without it', async () => {
    expect(server.address).toBe(`https://127.0.0.1:${server.port}`)
    const host = `desk.example:${server.port}`
    const asked = await ask('/api/sessions', { host, authorization: `Bearer ${token}` })
    expect(asked.status).toBe(200)
    expect(asked.body).toContain('The session one')
    expect((await ask('/api/sessions', { host })).status).toBe(401)
    expect(
      (await ask('/api/sessions', { host: 'evil.example', authorization: `Bearer ${token}` })).status,
    ).toBe(421)
    await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow('fetch failed')
    const old = new Promise<string>((resolve) => {
      const socket = connectTls(
        { host: '127.0.0.1', port: server.port, ca: cert, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' },
        () => resolve('let in'),
      )
      socket.on('error', () => resolve('refused'))
    })
    expect(await old).toBe('refused')
  })

  test('[SRV17] sockets come over TLS too, with the origin of that name', async () => {
    const ticketed = await fetchTicket()
    const socket = new WebSocket(
      `wss://127.0.0.1:${server.port}/api/live`,
      ['throughline.v1', `throughline.${ticketed}`],
      { ca: cert, origin: `https://127.0.0.1:${server.port}` },
    )
    onTestFinished(() => socket.terminate())
    const said = await new Promise<string>((resolve, reject) => {
      socket.once('message', (data) => resolve(Buffer.isBuffer(data) ? data.toString() : ''))
      socket.once('error', reject)
    })
    expect(said).toContain('hello')
  })

  async function fetchTicket(): Promise<string> {
    return await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const sent = request(
        {
          host: '127.0.0.1',
          port: server.port,
          path: '/api/tickets',
          method: 'POST',
          headers,
          ca: cert,
          agent: false,
        },
        (answer) => {
          let body = ''
          answer.on('data', (piece: Buffer) => (body += piece.toString()))
          answer.on('end', () => resolve(string(JSON.parse(body), 'ticket') ?? ''))
        },
      )
      sent.on('error', reject)
      sent.end('{}')
    })
  }

  test.skipIf(!existsSync(CHROMIUM))(
    '[SRV17] a browser on another machine gets the app, logged in and live',
    async () => {
      const browser = await chromium.launch({
        executablePath: CHROMIUM,
        args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP desk.example 127.0.0.1'],
      })
      onTestFinished(() => browser.close())
      const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
      await page.addInitScript((kept) => localStorage.setItem('throughline.token', kept), token)
      await page.goto(`https://desk.example:${server.port}/`)
      await page.locator('.session-link').nth(1).waitFor()
      await page.locator('.side-foot .dot.connected').waitFor()
    },
  )
})
