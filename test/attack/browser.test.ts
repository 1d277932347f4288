import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { list, number, parseJson, string } from '#base'
import { createScript, toSummary, type Script } from './script.ts'
import { ask, openTarget, type Target } from './target.ts'

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
/** Long enough for a request that is sent to arrive. */
const SETTLE_MS = 400

let browser: Browser

describe.skipIf(!existsSync(CHROMIUM))('in a real browser', () => {
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        '--no-sandbox',
        '--host-resolver-rules=MAP *.test 127.0.0.1',
        // What newer browsers keep from local addresses by themselves must not be what the tests rely on.
        '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessChecks',
      ],
    })
  })
  afterAll(async () => {
    await browser.close()
  })

  async function openPage(): Promise<Page> {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    return await context.newPage()
  }

  /** A page of somebody else, at whatever address: only the document is made up, the rest is the real network. */
  async function openPageAt(
    page: Page,
    url: string,
    html = '<!doctype html><title>elsewhere</title>',
  ): Promise<void> {
    await page.route(url, (route) => route.fulfill({ contentType: 'text/html', body: html }))
    await page.goto(url)
  }

  async function logIn(page: Page, target: Target, name = '127.0.0.1'): Promise<string> {
    const code = string((await ask(target, 'POST /api/codes', { token: target.token })).json, 'code')
    await page.goto(`http://${name}:${target.port}/#code=${code}`)
    await page.waitForSelector('.session-link')
    return String(await page.evaluate(`localStorage.getItem('throughline.token')`))
  }

  /** The statuses that were answered since the log was emptied, without those of the page itself. */
  function statuses(target: Target): readonly number[] {
    return target.log.map((line) => number(parseJson(line), 'status') ?? 0).filter((status) => status >= 400)
  }

  async function stateOf(target: Target, script: Script): Promise<string> {
    const { json } = await ask(target, 'GET /api/devices', { token: target.token })
    return JSON.stringify([script.changes, list(json, 'devices').length])
  }

  const TRY_SOCKET = `(address) => new Promise((resolve) => {
    const socket = new WebSocket(address, ['throughline.v1', 'throughline.guess'])
    socket.onopen = () => resolve('open')
    socket.onerror = () => resolve('refused')
  })`

  async function trySocket(page: Page, address: string): Promise<unknown> {
    return await page.evaluate(`(${TRY_SOCKET})(${JSON.stringify(address)})`)
  }

  test('[ATT06] a name that was rebound to this machine gets 421 and no data', async () => {
    const target = await openTarget({ throughline: createScript({ tellsList: true }).throughline })
    const page = await openPage()
    const origin = `http://rebind.test:${target.port}`
    await openPageAt(page, `${origin}/page`)
    target.log.length = 0
    const heard = await page.evaluate(
      `fetch('/api/sessions').then(async (one) => one.status + (await one.text()))`,
    )
    expect(String(heard).slice(0, 3)).toBe('421')
    expect(string(parseJson(String(heard).slice(3)), 'code')).toBe('not-allowed')
    const image = await page.evaluate(`new Promise((resolve) => {
      const image = new Image()
      image.onload = () => resolve('loaded')
      image.onerror = () => resolve('refused')
      image.src = '/api/sessions'
    })`)
    expect(image).toBe('refused')
    expect(await trySocket(page, `ws://rebind.test:${target.port}/api/live`)).toBe('refused')
    // Browsers ask twice after a 421.
    expect(statuses(target).length).toBeGreaterThanOrEqual(3)
    expect(new Set(statuses(target))).toEqual(new Set([421]))
    expect(target.log.filter((line) => line.includes('"status":200'))).toEqual([])
  })

  test('[ATT07] what any page may send without asking changes nothing', async () => {
    const script = createScript({ tellsList: true })
    const target = await openTarget({ throughline: script.throughline })
    const before = await stateOf(target, script)
    const page = await openPage()
    const victim = `http://127.0.0.1:${target.port}`
    await openPageAt(page, 'http://evil.test/page')
    target.log.length = 0
    await page.evaluate(`(async (address) => {
      for (const path of ['/api/stop', '/api/codes', '/api/login']) {
        await fetch(address + path, { method: 'POST', mode: 'no-cors', body: '{}' }).catch(() => {})
        navigator.sendBeacon(address + path, '{}')
        navigator.sendBeacon(address + path, new Blob(['{}'], { type: 'text/plain' }))
      }
      const headers = { 'content-type': 'application/json' }
      await fetch(address + '/api/sessions/one', { method: 'PATCH', headers, body: '{"starred":true}' }).catch(() => {})
    })(${JSON.stringify(victim)})`)
    await page.waitForTimeout(SETTLE_MS)
    for (const encoding of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      await openPageAt(
        page,
        'http://evil.test/form',
        `<form method="post" enctype="${encoding}" action="${victim}/api/login"><input name='{"code":"' value='"}'></form>`,
      )
      const [response] = await Promise.all([
        page.waitForResponse((one) => one.url().endsWith('/api/login')),
        page.evaluate(`document.forms[0].submit()`),
      ])
      expect([403, 415]).toContain(response.status())
      await page.waitForURL(/login$/)
    }
    const refused = statuses(target)
    expect(refused.length).toBeGreaterThanOrEqual(9)
    expect(refused.filter((status) => status !== 403 && status !== 415)).toEqual([])
    expect(target.log.filter((line) => line.includes('"status":2'))).toEqual([])
    expect(await stateOf(target, script)).toBe(before)
  })

  test('[ATT08] [ATT09] a page on another port of this machine gets nothing, and is sent no credential', async () => {
    const script = createScript({ tellsList: true })
    const target = await openTarget({ throughline: script.throughline })
    const heard: IncomingMessage[] = []
    const neighbour = createServer((request, response) => {
      heard.push(request)
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>neighbour</title>')
    })
    neighbour.listen(0, '127.0.0.1')
    await once(neighbour, 'listening')
    onTestFinished(() => {
      neighbour.close()
    })
    const address = neighbour.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0

    const page = await openPage()
    const token = await logIn(page, target)
    expect(token).toMatch(/^[\w-]{43}$/)
    const before = await stateOf(target, script)

    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().includes(`:${target.port}`)) sent.push(JSON.stringify(request.headers()))
    })
    await page.goto(`http://127.0.0.1:${port}/`)
    target.log.length = 0
    await page.evaluate(`(async (victim) => {
      for (const init of [{}, { method: 'POST', body: '{}' }]) {
        await fetch(victim + '/api/codes', { ...init, mode: 'no-cors', credentials: 'include' }).catch(() => {})
      }
      await fetch('/own', { credentials: 'include' })
    })('http://127.0.0.1:${target.port}')`)
    expect(await trySocket(page, `ws://127.0.0.1:${target.port}/api/live`)).toBe('refused')
    expect(await page.evaluate(`Object.keys(localStorage)`)).toEqual([])
    expect(statuses(target)).toEqual([403, 403, 403])
    expect(await stateOf(target, script)).toBe(before)
    expect(sent.length).toBeGreaterThanOrEqual(2)
    expect(
      sent.filter((headers) => /authorization|cookie/i.test(headers) || headers.includes(token)),
    ).toEqual([])

    expect(heard.length).toBeGreaterThanOrEqual(2)
    for (const { rawHeaders, url } of heard) {
      expect(`${url} ${rawHeaders.join(' ')}`).not.toContain(token)
      expect(rawHeaders.map((name) => name.toLowerCase())).not.toContain('cookie')
    }
  })

  test('[ATT10] a socket cannot be opened by a page of another origin, of none, or from a file', async () => {
    const target = await openTarget({ throughline: createScript({ tellsList: true }).throughline })
    const page = await openPage()
    const address = `ws://127.0.0.1:${target.port}/api/live`
    target.log.length = 0
    for (const url of [
      'https://secure.test/page',
      'http://evil.test/page',
      `http://localhost:${target.port}/page`,
    ]) {
      await openPageAt(page, url)
      expect([url, await trySocket(page, address)]).toEqual([url, 'refused'])
    }
    // A sandboxed frame has the origin `null`.
    await openPageAt(
      page,
      'http://evil.test/framing',
      '<iframe sandbox="allow-scripts" srcdoc="<p>x"></iframe>',
    )
    const frame = page.frames()[1]
    expect(await frame?.evaluate(`(${TRY_SOCKET})(${JSON.stringify(address)})`)).toBe('refused')
    const file = join(target.home, 'page.html')
    await writeFile(file, '<!doctype html><title>file</title>')
    await page.goto(pathToFileURL(file).href)
    expect(await trySocket(page, address)).toBe('refused')
    expect(new Set(statuses(target))).toEqual(new Set([403]))
    expect(target.server.devices()).toBe(0)
  })

  test('[ATT13] nothing of it can be embedded: no script, no image, no frame', async () => {
    const target = await openTarget({ throughline: createScript({ tellsList: true }).throughline })
    const page = await openPage()
    const victim = `http://127.0.0.1:${target.port}`
    await openPageAt(page, 'http://evil.test/embedding')
    const outcomes = await page.evaluate(`(async (address) => {
      const load = (tag, key, path) => new Promise((resolve) => {
        const made = document.createElement(tag)
        made.onload = () => resolve('loaded')
        made.onerror = () => resolve('refused')
        made.rel = 'stylesheet'
        made[key] = address + path
        document.body.append(made)
      })
      const outcomes = await Promise.all([
        load('script', 'src', '/api/sessions'), load('script', 'src', '/'),
        load('img', 'src', '/api/sessions'), load('img', 'src', '/'), load('link', 'href', '/'),
      ])
      await load('iframe', 'src', '')
      return outcomes
    })(${JSON.stringify(victim)})`)
    expect(outcomes).toEqual(Array.from({ length: 5 }, () => 'refused'))
    expect(await page.frames()[1]?.locator('.sidebar').count()).toBe(0)

    const shell = await ask(target, 'GET /')
    expect(shell.head).toMatch(/frame-ancestors 'none'/)
    for (const { head } of [shell, await ask(target, 'GET /api/sessions', { token: target.token })]) {
      expect(head).toMatch(/^x-content-type-options: nosniff\r?$/im)
      expect(head).toMatch(/^cross-origin-resource-policy: same-origin\r?$/im)
      expect(head).toMatch(/^cross-origin-opener-policy: same-origin\r?$/im)
      expect(head).toMatch(/^referrer-policy: no-referrer\r?$/im)
    }
  })

  test('[SRV4] a file that only its owner can read logs a browser in; the code stays nowhere', async () => {
    const target = await openTarget({ throughline: createScript({ tellsList: true }).throughline })
    const page = await openPage()
    const code = string((await ask(target, 'POST /api/codes', { token: target.token })).json, 'code')
    const file = join(target.home, 'open.html')
    const goal = `http://throughline.localhost:${target.port}/#code=${code}`
    await writeFile(file, `<!doctype html><script>location.replace(${JSON.stringify(goal)})</script>`, {
      mode: 0o600,
    })
    await page.goto(pathToFileURL(file).href).catch(() => {})
    await page.waitForSelector('.session-link')
    expect(page.url()).toBe(`http://throughline.localhost:${target.port}/`)
    expect((await page.locator('.session-title .ellipsis').allTextContents()).toSorted()).toEqual([
      'The session one',
      'The session two',
    ])
    await page.reload()
    await page.waitForSelector('.session-link')
    expect(target.log.join('\n')).not.toContain(code)
    expect(await page.evaluate(`document.cookie`)).toBe('')
  })

  test('[ATT59] the page leaves no worker and no cache behind, and may make none', async () => {
    const target = await openTarget({ throughline: createScript({ tellsList: true }).throughline })
    const page = await openPage()
    await logIn(page, target)
    const left = await page.evaluate(`(async () => [
      (await navigator.serviceWorker.getRegistrations()).length,
      (await caches.keys()).length,
      await navigator.serviceWorker.register('/api/sessions').then(() => 'registered', () => 'refused'),
    ])()`)
    expect(left).toEqual([0, 0, 'refused'])
  })

  test('[C1.1] [SRV5] text of sessions is text on the page, live ones too, and nothing is asked of anybody else', async () => {
    const script = createScript({ tellsList: true })
    const payload =
      '"><img src=https://evil.test/x onerror=globalThis.pwned=1><script>globalThis.pwned=1</script>'
    script.sessions[0] = toSummary('one', {
      name: payload,
      workdirs: [payload],
      live: { pid: 1, status: 'waiting' },
    })
    const target = await openTarget({ throughline: script.throughline })
    const page = await openPage()
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).host))
    page.on('console', (message) => complaints.push(message.text()))
    await logIn(page, target)
    await page.waitForSelector('.side-foot .dot.connected')
    script.emit(payload)
    await page.locator('.session-link').nth(2).waitFor()
    expect(await page.title()).toBe('(1) Throughline')
    await page.keyboard.press('/')
    await page.waitForSelector('main input[type="search"]')
    await page.keyboard.insertText(payload)
    await page.waitForSelector('main mark')
    expect(await page.locator('main mark').first().textContent()).toBe(payload)
    expect(await page.evaluate(`'pwned' in globalThis`)).toBe(false)
    expect(new Set(asked)).toEqual(new Set([`127.0.0.1:${target.port}`]))
    expect(complaints).toEqual([])
  })
})
