import type { ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { Agent, get as httpGet } from 'node:http'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { field, number, parseJson, string } from '#base'
import { cpuMsOf, endChild, freePort, isRunning, peakRssOf, startChild, untilQuiet } from './children.ts'
import type { Ground } from './ground.ts'

const MAIN = fileURLToPath(new URL('../../dist/bin/throughline.js', import.meta.url))
/** As `throughline` starts it in the background. */
const FLAGS = ['--max-semi-space-size=2']

/** The built daemon in a process of its own, asked as the command line asks it. */
export interface Daemon {
  readonly pid: number
  readonly port: number
  readonly home: string
  readonly token: string
  /** When it was started, on the clock of `performance.now()`. */
  readonly startedAt: number
  /** Throws unless the answer is 200. */
  get(path: string): Promise<Answer>
  cpuMs(): number
  peakBytes(): number
  /** Milliseconds that requests of a route took inside the server, as its log says, oldest first. */
  loggedMs(route: string): readonly number[]
  stop(): Promise<void>
}

export interface Answer {
  readonly body: Buffer
  /** From the request to the last byte. */
  readonly ms: number
}

/** Starts the daemon of a home, by default in this environment. Resolves as soon as it listens. */
export async function startDaemon(
  home: string,
  configDir: string,
  options: { readonly env?: Readonly<Record<string, string | undefined>> } = {},
): Promise<Daemon> {
  const port = await freePort()
  const startedAt = performance.now()
  const env = {
    ...(options.env ?? process.env),
    THROUGHLINE_HOME: home,
    CLAUDE_CONFIG_DIR: configDir,
    ALLOWED_ROOTS: undefined,
  }
  const child = startChild(process.execPath, [...FLAGS, MAIN, 'serve', '--port', String(port)], { env })
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const token = await untilListening(child, port, home)
  const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}` }
  const pid = child.pid ?? 0
  return {
    pid,
    port,
    home,
    token,
    startedAt,
    get: (path) => ask({ port, path, headers, agent }),
    cpuMs: () => cpuMsOf(pid),
    peakBytes: () => peakRssOf(pid),
    loggedMs: (route) => readLogged(join(home, 'logs', 'daemon.jsonl'), route),
    async stop() {
      agent.destroy()
      await endChild(child)
    },
  }
}

async function untilListening(child: ChildProcess, port: number, home: string): Promise<string> {
  const end = performance.now() + 30_000
  while (performance.now() < end) {
    if (!isRunning(child)) throw new Error(`the daemon ended with ${child.exitCode ?? child.signalCode}`)
    if (await isListening(port)) {
      const secret = readFileSync(join(home, 'secret'))
      return createHmac('sha256', secret).update('throughline local v1').digest('base64url')
    }
    await sleep(2)
  }
  throw new Error('the daemon does not listen')
}

/** Whether anybody listens. Asks nothing: an answer would be part of what is measured. */
export async function isListening(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port })
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

/** One GET, whole. Throws unless the answer is 200. */
export async function ask(asked: {
  readonly port: number
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly agent?: Agent
}): Promise<Answer> {
  const { port, path, headers = {}, agent } = asked
  const start = performance.now()
  return await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers, ...(agent === undefined ? {} : { agent }) }
    const sent = httpGet(options, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.once('error', reject)
      response.once('end', () => {
        const body = Buffer.concat(pieces)
        const ms = performance.now() - start
        if (response.statusCode === 200) resolve({ body, ms })
        else
          reject(new Error(`${path.slice(0, 60)}: ${response.statusCode} ${body.toString('utf8', 0, 200)}`))
      })
    })
    sent.once('error', reject)
  })
}

function readLogged(path: string, route: string): readonly number[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const logged = parseJson(line)
      const ms = number(logged, 'ms')
      return string(logged, 'route') === route && ms !== undefined ? [ms] : []
    })
}

/** What a full build of the index took. */
export interface IndexBuild {
  readonly cpuMs: number
  readonly wallMs: number
  readonly peakBytes: number
  readonly indexBytes: number
}

const LONGEST_BUILD_MS = 900_000

/** Starts a daemon in a new home, waits for a complete index and stops it. The home is the settled one from then on. */
export async function buildIndex(ground: Ground): Promise<IndexBuild> {
  const home = ground.folder('home')
  const daemon = await startDaemon(home, ground.configDir)
  try {
    for (;;) {
      const index = field(parseJson((await daemon.get('/api/health')).body.toString()), 'index')
      const state = string(index, 'state')
      if (state === 'complete' && (number(field(index, 'files'), 'total') ?? 0) > 0) break
      if (state === 'failed') throw new Error(`the index is ${state}`)
      if (performance.now() - daemon.startedAt > LONGEST_BUILD_MS) throw new Error('the index takes too long')
      await sleep(100)
    }
    const took = { cpuMs: daemon.cpuMs(), wallMs: performance.now() - daemon.startedAt }
    const peakBytes = daemon.peakBytes()
    const indexBytes = indexBytesOf(home)
    await untilQuiet(daemon.pid)
    await daemon.stop()
    if (ground.settledHome !== undefined) rmSync(ground.settledHome, { recursive: true, force: true })
    ground.settledHome = home
    return { ...took, peakBytes, indexBytes }
  } finally {
    await daemon.stop()
  }
}

function indexBytesOf(home: string): number {
  return readdirSync(home)
    .filter((name) => /^index\.v\d+\.db/.test(name))
    .reduce((sum, name) => sum + statSync(join(home, name)).size, 0)
}

/** A daemon over a complete index, with nothing left to do. */
export async function startSettled(ground: Ground): Promise<Daemon> {
  if (ground.settledHome === undefined) await buildIndex(ground)
  const daemon = await startDaemon(ground.settledHome ?? '', ground.configDir)
  await daemon.get('/api/health')
  await untilQuiet(daemon.pid)
  return daemon
}
