import { ThroughlineError } from '#base'
import type { Health } from '#wire'
import { toPlural } from '#render'
import { spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openInBrowser } from './browser.ts'
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
  if (!isOpened && !values.flag('no-open')) {
    console.say('note: there is no browser here')
    console.say(
      'next: `throughline pair --url <address>` lets another device in; `throughline ls` lists here.',
    )
  }
  return 0
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
  const reason = said()
    .findLast((line) => line.startsWith('error: '))
    ?.slice('error: '.length)
  throw new ThroughlineError(
    'daemon-unreachable',
    `the daemon did not start: ${reason ?? ended ?? `nothing after ${PATIENCE_MS / 1000} s`}`,
    { hint: 'See what it said: `throughline logs`. To watch it: `throughline serve`.' },
  )
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
