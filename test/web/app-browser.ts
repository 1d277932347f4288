import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { list, number, parseJson, string } from '#base'
import { openTempDir, type TempDir } from '#testing'

const root = join(import.meta.dirname, '..', '..')
export const CHROMIUM: string = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const HANG_MS = 120_000

export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}

/** A daemon as people run it, over a config folder of Claude Code. */
export interface AppDaemon {
  readonly dir: string
  readonly claudeDir: string
  readonly url: string
  readonly token: string
  /** What it answers to a GET, as the machine's own command line. */
  ask(path: string): Promise<unknown>
  /** Asks it to do something. */
  tell(path: string, body?: object): Promise<unknown>
  /** Sessions that are run now. */
  liveIds(): Promise<readonly string[]>
  /** Ends it and starts it again, on the same port. */
  restart(): Promise<void>
  kill(): void
  start(): Promise<void>
  close(): Promise<void>
}

/** For `prepare`: what one session said is not told to the next. Tests of a conversation say all that is in it. */
export function tellNothing(claudeDir: string): void {
  const home = join(claudeDir, '..', 'home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'config.json'), '{"wakeUp":{"on":false}}', { mode: 0o600 })
}

export async function openAppDaemon(
  prepare: (claudeDir: string) => Promise<unknown> | void,
  env: Readonly<Record<string, string>> = {},
): Promise<AppDaemon> {
  const temp: TempDir = await openTempDir()
  const claudeDir = join(temp.path, 'claude')
  const home = join(temp.path, 'home')
  await prepare(claudeDir)
  let child: ChildProcess | undefined
  let port = 0

  async function start(): Promise<void> {
    child = spawn(process.execPath, [join(root, 'dist/bin/throughline.js'), 'serve'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        HOME: temp.path,
        CLAUDE_CONFIG_DIR: claudeDir,
        THROUGHLINE_HOME: home,
        ...env,
      },
    })
    const file = join(home, 'daemon.json')
    for (const end = performance.now() + HANG_MS; performance.now() < end; await sleep(30)) {
      const known: unknown = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : undefined
      if (number(known, 'pid') !== child.pid) continue
      port = number(known, 'port') ?? 0
      return
    }
    throw new Error('the daemon did not start')
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    const ended = child
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return
    const gone = new Promise((resolve) => {
      ended.once('exit', resolve)
    })
    ended.kill(signal)
    await gone
  }

  await start()
  const secret = readFileSync(join(home, 'secret'))
  const token = createHmac('sha256', secret).update('throughline local v1').digest('base64url')
  const ask = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}` }
    return await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).json()
  }
  return {
    dir: temp.path,
    claudeDir,
    get url() {
      return `http://127.0.0.1:${port}`
    },
    token,
    ask,
    async tell(path, body = {}) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return await answer.json().catch(() => undefined)
    },
    liveIds: async () =>
      list(await ask('/api/board'), 'cards').flatMap((card) => string(card, 'sessionId') ?? []),
    start,
    async restart() {
      await stop('SIGTERM')
      await start()
    },
    kill() {
      child?.kill('SIGKILL')
    },
    async close() {
      await stop('SIGKILL')
      await temp.remove()
    },
  }
}

/** Every recorded session, in one config folder. */
export async function copyRecorded(claudeDir: string): Promise<void> {
  const fixtures = join(root, 'test', 'fixtures', 'claude')
  for (const name of readdirSync(fixtures)) {
    const projects = join(fixtures, name, 'config', 'projects')
    if (existsSync(projects)) await cp(projects, join(claudeDir, 'projects'), { recursive: true })
  }
}

/** A tab in which the app runs, and what it did that it should not do. */
export interface AppTab {
  readonly page: Page
  /** Errors on the console, exceptions, and requests to anybody else. */
  readonly trouble: string[]
  go(hash: string): Promise<void>
  close(): Promise<void>
}

export async function openTab(
  browser: Browser,
  daemon: AppDaemon,
  options: BrowserContextOptions = {},
): Promise<AppTab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(HANG_MS)
  const trouble: string[] = []
  page.on('pageerror', (error) => trouble.push(`exception: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') trouble.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(daemon.url) && !url.startsWith('blob:') && !url.startsWith('data:'))
      trouble.push(`request: ${url}`)
  })
  const answer = await fetch(`${daemon.url}/api/codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    body: '{}',
  })
  const code = string(await answer.json(), 'code') ?? ''
  await page.goto(`${daemon.url}/#code=${code}`)
  await page.waitForSelector('.sidebar', { state: 'attached' })
  return {
    page,
    trouble,
    async go(hash) {
      await page.evaluate((to) => {
        location.hash = to
      }, hash)
    },
    close: () => context.close(),
  }
}

/** Entries of the conversation that are in the document, by the ids of their messages. */
export async function shownKeys(page: Page): Promise<readonly string[]> {
  return await page
    .locator('.conversation-row[data-key]')
    .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key') ?? ''))
}

/** Goes to a live session, as a link would. */
export async function showLive(page: Page, id: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to
  }, `#session=${id}`)
  await page.waitForSelector('#composer')
}
