import { ThroughlineError } from '#base'
import type { RemoteThroughline } from '#client'
import type { Health } from '#wire'
import { toPlural } from '#render'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLoginLink, openInBrowser, toForwardHint } from './browser.ts'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findDaemon, findReadyDaemon, type DaemonLink } from './daemon-link.ts'
import { describeIndex } from './index-line.ts'
import { toJsonLine } from './json.ts'
import { logPathOf, type Site, toDaemonCommand } from './site.ts'
import { stopDaemon } from './stop.ts'

const PATIENCE_MS = 15_000
const PAUSE_MS = 20

/** `throughline`, `throughline start` */
export async function start(site: Site, values: Values, console: Console): Promise<number> {
  const running = await findDaemon(site.home)
  const link = running ?? (await startDaemon(site))
  const throughline = await link.connect()
  const health = await throughline.health()
  const isOpened = values.flag('no-open') ? false : await openInBrowser(site, link, throughline)
  if (values.flag('json')) {
    const { version, startedAt } = health
    const wasRunning = running !== undefined
    await console.out.write(
      toJsonLine({
        address: link.page,
        port: link.port,
        pid: health.pid,
        version,
        startedAt,
        wasRunning,
        isOpened,
      }),
    )
    return 0
  }
  await console.out.write(
    `${toLines(link, health, { wasRunning: running !== undefined, console }).join('\n')}\n`,
  )
  if (health.version !== site.version) {
    console.say(`note: the daemon is of version ${health.version}, this is ${site.version}`)
    console.say('next: `throughline stop`, then `throughline`')
  }
  if (!isOpened && !values.flag('no-open')) await sayHowToLogIn(link, throughline, console)
  return 0
}

/** A link with a code is for the person at the terminal; a pipe may end in a file that others read. */
async function sayHowToLogIn(
  daemon: DaemonLink,
  throughline: RemoteThroughline,
  console: Console,
): Promise<void> {
  if (!console.isTerminal) {
    console.say('note: could not open a browser')
    console.say('next: `throughline open` prints a link that logs one in; `throughline ls` lists here.')
    return
  }
  const { link } = await createLoginLink(daemon.numeric, throughline)
  console.say('Could not open a browser. Open this link within a minute; it works once:')
  await console.out.write(`${link}\n`)
  console.say(toForwardHint(daemon.port))
  console.say('next: `throughline open` prints a new link; `throughline ls` lists here.')
}

function toLines(
  link: DaemonLink,
  { pid, sessions, index }: Health,
  options: { readonly wasRunning: boolean; readonly console: Console },
): readonly string[] {
  const { paint } = options.console
  const state = options.wasRunning ? 'runs already' : 'runs'
  const facts = [toPlural(sessions.total, 'session'), `${sessions.live.length} live`]
  if (sessions.waitingForYou > 0) facts.push(paint('warning', `${sessions.waitingForYou} waiting for you`))
  return [
    `${paint('strong', 'Throughline')} ${state} at ${paint('code', link.page)}  ${paint('dim', `pid ${pid}`)}`,
    `${facts.join(' · ')} · index ${describeIndex(index)}`,
  ]
}

/** Stops the daemon and starts it anew, with what the settings say now. Live sessions have processes of their own. */
export async function restartDaemon(site: Site): Promise<DaemonLink> {
  const running = await findDaemon(site.home)
  if (running !== undefined) await stopDaemon(running)
  return await startDaemon(site)
}

/** Starts a daemon that outlives this process, and waits until it has proven itself. */
export async function startDaemon(site: Site): Promise<DaemonLink> {
  const log = await openLog(site)
  const from = fstatSync(log).size
  const [interpreter, ...args] = toDaemonCommand(site)
  const child = spawn(interpreter, args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...site.env, FORCE_COLOR: '0' },
    cwd: site.userHome,
  })
  closeSync(log)
  let ended: string | undefined
  child.once('error', (error) => (ended = error.message))
  child.once('exit', (code, signal) => (ended = `it ended with ${signal ?? code ?? 'nothing'}`))
  const said = (): readonly string[] => readFileSync(logPathOf(site)).subarray(from).toString().split('\n')
  const deadline = performance.now() + PATIENCE_MS
  try {
    while (performance.now() < deadline) {
      const link = await findReadyDaemon(site.home)
      if (link !== undefined) return link
      // Of two that start at once one serves, and the other waits for it.
      if (ended !== undefined && !said().some((line) => line.includes(' already serves '))) break
      await sleep(PAUSE_MS)
    }
  } finally {
    child.unref()
  }
  const lines = said()
  const at = lines.findLastIndex((line) => line.startsWith('error: '))
  const reason = lines[at]?.slice('error: '.length)
  // A log on a full disk says nothing.
  if (at < 0) await expectRoom(site)
  const next = at < 0 ? undefined : lines.slice(at).find((line) => line.startsWith('next: '))
  throw new ThroughlineError(
    'daemon-unreachable',
    `the daemon did not start: ${reason ?? ended ?? `nothing after ${PATIENCE_MS / 1000} s`}`,
    {
      // It knows best what to do about it.
      hint:
        next?.slice('next: '.length) ??
        'See what it said: `throughline logs`. To watch it: `throughline serve`.',
    },
  )
}

/** Throws when nothing can be written to the home. */
async function expectRoom(site: Site): Promise<void> {
  const path = join(site.home, `.${randomBytes(6).toString('hex')}.tmp`)
  try {
    writeFileSync(path, Buffer.alloc(64 * 1024), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const { toHomeTrouble } = await import('#server')
    throw toHomeTrouble(error, site.home)
  } finally {
    rmSync(path, { force: true })
  }
}

/** What a daemon says that cannot even start goes where it logs. */
async function openLog(site: Site): Promise<number> {
  const path = logPathOf(site)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return openSync(path, 'a', 0o600)
  } catch (error) {
    const { toHomeTrouble } = await import('#server')
    throw toHomeTrouble(error, site.home)
  }
}
