import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { number, parseJson, string } from '#base'
import { connect, type RemoteThroughline } from '#client'
import type { Attention, Resolution, SessionSummary, SessionView } from '#model'
import { readSecret, toLocalToken } from '#server'
import { openModelApi, openTempDir, type ModelApi, type ModelScript } from '#testing'
import { WebSocket } from 'ws'
import { CODEX_ACP, toCodexConfig } from '../drivers-acp-place.ts'
import { CLAUDE, QUIET_CLAUDE } from '../drivers-claude-place.ts'
import { GEMINI_SETTINGS, toOpencodeConfig } from '../native-place.ts'
import { OPENCODE } from '../opencode-program.ts'

const BIN = join(import.meta.dirname, '../../node_modules/.bin')
const CHILD = join(import.meta.dirname, '../../dist/testing/daemon-child.js')
export const HANG_MS = 120_000

/** A real daemon in a process of its own, with folders and a model of its own, that can be killed and started again. */
export interface LivePlace {
  readonly root: string
  readonly home: string
  readonly workdir: string
  readonly claudeDir: string
  readonly api: ModelApi
  /** What agents see of the environment. */
  readonly env: Readonly<Record<string, string>>
  address(): string
  readonly token: () => Promise<string>
  /** The daemon's process. */
  pid(): number
  /** A new client, closed with the place. */
  connect(): Promise<RemoteThroughline>
  /** Ends the daemon without a word. */
  killDaemon(): Promise<void>
  startDaemon(): Promise<void>
  /** Processes that have to do with this place: hosts, agents, tools. */
  processes(): readonly number[]
  close(): Promise<void>
}

/** Sessions are told nothing of each other, unless the settings say so: most tests say what each of them hears. */
export async function openLivePlace(settings: object = {}, script?: ModelScript): Promise<LivePlace> {
  const dir = await openTempDir()
  const api = await openModelApi(script)
  const home = join(dir.path, 'home')
  const claudeDir = join(dir.path, 'config')
  const workdir = join(dir.path, 'work')
  for (const folder of [home, claudeDir, workdir]) mkdirSync(folder, { mode: 0o700 })
  const codexHome = join(dir.path, 'codex')
  mkdirSync(codexHome)
  writeFileSync(join(codexHome, 'config.toml'), toCodexConfig(api.url))
  const files = {
    'gemini/.gemini/settings.json': GEMINI_SETTINGS,
    'xdg/config/opencode/opencode.json': toOpencodeConfig(api.url),
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir.path, name)), { recursive: true })
    writeFileSync(join(dir.path, name), JSON.stringify(content))
  }
  const agents = {
    claude: { executable: CLAUDE },
    codex: { executable: process.execPath, args: [CODEX_ACP] },
    gemini: {
      executable: process.execPath,
      args: [join(BIN, 'gemini'), '--acp', '-m', 'gemini-2.5-flash', '--skip-trust'],
    },
    opencode: { executable: OPENCODE, args: ['acp'] },
  }
  writeFileSync(join(home, 'config.json'), JSON.stringify({ agents, wakeUp: { on: false }, ...settings }))
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: dir.path,
    TMPDIR: dir.path,
    CLAUDE_CONFIG_DIR: claudeDir,
    CODEX_HOME: codexHome,
    SCRIPTED_MODEL: 'dummy-for-loopback',
    NO_BROWSER: '1',
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'dummy-for-loopback',
    CLAUDE_CODE_MAX_RETRIES: '1',
    ...QUIET_CLAUDE,
    GEMINI_CLI_HOME: join(dir.path, 'gemini'),
    XDG_CONFIG_HOME: join(dir.path, 'xdg/config'),
    XDG_DATA_HOME: join(dir.path, 'xdg/data'),
    XDG_STATE_HOME: join(dir.path, 'xdg/state'),
    XDG_CACHE_HOME: join(dir.path, 'xdg/cache'),
    GEMINI_API_KEY: 'dummy-for-loopback',
    GOOGLE_GEMINI_BASE_URL: api.url,
    GEMINI_CLI_NO_RELAUNCH: 'true',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }
  const clients: RemoteThroughline[] = []
  let lastPort: string | undefined
  let daemon: { readonly child: ChildProcess; readonly address: string } | undefined

  /** On the port that it had. Another program may have it for a moment: then it is tried again. */
  async function startDaemon(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await startOnce()
        lastPort ??= new URL(running().address).port
        return
      } catch (error) {
        if (tries === 50) throw error
        await sleep(200)
      }
    }
  }

  async function startOnce(): Promise<void> {
    const child = spawn(process.execPath, [CHILD, home, claudeDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: env.PATH,
        HOME: dir.path,
        TMPDIR: dir.path,
        DAEMON_ENV: JSON.stringify(env),
        DAEMON_PORT: lastPort ?? '0',
      },
    })
    for await (const line of createInterface({ input: child.stdout })) {
      const said = parseJson(line)
      const address = string(said, 'address')
      if (address === undefined || number(said, 'pid') === undefined) throw new Error(`no daemon: ${line}`)
      daemon = { child, address }
      return
    }
    throw new Error('the daemon ended before it began')
  }

  async function endDaemon(signal: NodeJS.Signals): Promise<void> {
    const child = daemon?.child
    daemon = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }

  function running(): { readonly child: ChildProcess; readonly address: string } {
    if (!daemon) throw new Error('there is no daemon')
    return daemon
  }

  const token = async (): Promise<string> => toLocalToken(await readSecret(home))
  await startDaemon()
  return {
    root: dir.path,
    home,
    workdir,
    claudeDir,
    api,
    env,
    token,
    address: () => running().address,
    pid: () => running().child.pid ?? 0,
    async connect() {
      const client = await connect({
        url: running().address,
        token: await token(),
        WebSocket,
        firstPauseMs: 50,
      })
      clients.push(client)
      return client
    },
    killDaemon: () => endDaemon('SIGKILL'),
    startDaemon,
    processes: () => findProcesses(dir.path, daemon?.child.pid),
    async close() {
      if (daemon === undefined) await startDaemon()
      const last = await connect({ url: running().address, token: await token(), WebSocket })
      for (const card of await last.live.board())
        if (card.origin === undefined) await last.live.end(card.sessionId).catch(() => {})
      await last.close()
      for (const client of clients) await client.close()
      await endDaemon('SIGTERM')
      const left = await waitFor('no process is left', () => {
        const found = findProcesses(dir.path, undefined)
        return found.length === 0 ? [] : undefined
      }).catch(() => findProcesses(dir.path, undefined))
      for (const pid of left) process.kill(pid, 'SIGKILL')
      await api.close()
      await dir.remove()
      if (left.length > 0) throw new Error(`processes were left: ${left.join()}`)
    },
  }
}

/** Every process whose command line or environment names the place, but the daemon itself. */
function findProcesses(root: string, but: number | undefined): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid || Number(name) === but) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      if (/\) Z/.test(stat)) return []
      const said =
        readFileSync(`/proc/${name}/environ`, 'utf8') + readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return said.includes(root) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/** Waits until there is something. */
export async function waitFor<T>(
  what: string,
  find: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + HANG_MS
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`)
    await sleep(25)
  }
}

/** A prompt under a new id. */
export function say(text: string): {
  readonly id: string
  readonly blocks: readonly [{ readonly kind: 'text'; readonly text: string }]
} {
  return { id: randomUUID(), blocks: [{ kind: 'text', text }] }
}

/** A cue for the scripted model: run this in a shell. */
export function shell(command: string): string {
  return `[[tool Bash ${JSON.stringify({ command })}]]`
}

/** The open attention of a session, as soon as there is one. */
export async function attentionOf(throughline: RemoteThroughline, sessionId: string): Promise<Attention> {
  return await waitFor('somebody is asked', async () =>
    (await throughline.live.attentions()).find((each) => each.sessionId === sessionId),
  )
}

export async function answer(
  throughline: RemoteThroughline,
  { id, hash }: Attention,
  resolution: Resolution = { kind: 'allow', rules: [] },
): ReturnType<RemoteThroughline['live']['resolve']> {
  return await throughline.live.resolve({ id, hash, resolution })
}

/** A live session in this state, as soon as it is. */
export async function until(
  throughline: RemoteThroughline,
  sessionId: string,
  isSo: (view: SessionView) => boolean,
): Promise<SessionView> {
  return await waitFor('the session is so', async () => {
    const view = await throughline.live.view(sessionId).catch(() => undefined)
    return view !== undefined && isSo(view) ? view : undefined
  })
}

/** What is on disk of a session, as soon as anything is. */
export async function written(throughline: RemoteThroughline, sessionId: string): Promise<SessionSummary> {
  return await waitFor('it is in the list', async () => {
    const found = await throughline.get(sessionId).catch(() => undefined)
    return found !== undefined && found.size > 0 ? found : undefined
  })
}
