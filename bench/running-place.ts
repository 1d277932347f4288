import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { WebSocket } from 'ws'
import { number, parseJson, string } from '#base'
import { connect, type RemoteThroughline } from '#client'
import type { SessionEvent, SessionView } from '#model'
import { openTempDir } from '#testing'
import { startDaemon, type Daemon } from './daemon.ts'
import { startSide } from './live-sides.ts'
import { Absent } from './measure.ts'

/** A daemon that runs agents, a device of it, and a model on this machine that says what prompts tell it to say. */
export interface RunningPlace {
  readonly daemon: Daemon
  readonly throughline: RemoteThroughline
  /** A new folder to work in. */
  folder(name: string): string
  /** The environment of an agent, with a configuration of its own. */
  environment(): Readonly<Record<string, string>>
  /** The process that holds a live session. */
  hostOf(sessionId: string): number
  socketOf(sessionId: string): string
  close(): Promise<void>
}

/** The program that comes with the Agent SDK. */
const CLAUDE = join(
  dirname(createRequire(import.meta.url).resolve('@anthropic-ai/claude-agent-sdk')),
  `../claude-agent-sdk-${process.platform}-${process.arch}/claude`,
)

/** Where Claude Code is. Throws `Absent` where it is not installed. */
export function getClaude(): string {
  if (existsSync(CLAUDE)) return CLAUDE
  throw new Absent('Claude Code is not installed with the Agent SDK')
}

export async function openRunningPlace(): Promise<RunningPlace> {
  const dir = await openTempDir()
  const model = await startSide('model', {})
  let made = 0
  const folder = (name: string): string => {
    const path = join(dir.path, `${name}-${++made}`)
    mkdirSync(path, { mode: 0o700 })
    return path
  }
  const environment = (): Readonly<Record<string, string>> => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder('user'),
    TMPDIR: dir.path,
    CLAUDE_CONFIG_DIR: folder('claude'),
    ANTHROPIC_BASE_URL: string(model.facts, 'url') ?? '',
    ANTHROPIC_API_KEY: 'dummy-for-loopback',
    CLAUDE_CODE_MAX_RETRIES: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
  })
  const home = folder('home')
  // Should the benchmark be killed, its sessions do not outlive it for long.
  const settings = { agents: { claude: { executable: CLAUDE } }, live: { orphanMinutes: 1 } }
  writeFileSync(join(home, 'config.json'), JSON.stringify(settings))
  const env = environment()
  const daemon = await startDaemon(home, env['CLAUDE_CONFIG_DIR'] ?? '', { env })
  const url = `http://127.0.0.1:${daemon.port}`
  const throughline = await connect({ url, token: daemon.token, WebSocket })
  return {
    daemon,
    throughline,
    folder,
    environment,
    hostOf: (sessionId) =>
      number(parseJson(readFileSync(join(home, 'run', `${sessionId}.json`), 'utf8')), 'pid') ?? 0,
    socketOf: (sessionId) => join(home, 'run', `${sessionId}.sock`),
    async close() {
      try {
        // Those that are over are on the board too, for a while.
        for (const { sessionId } of await throughline.live.board())
          await throughline.live.end(sessionId).catch(() => {})
        await throughline.close()
      } finally {
        await daemon.stop()
        await model.end()
        await dir.remove()
      }
    },
  }
}

/** A live session that a device listens to. */
export interface WatchedSession {
  readonly id: string
  /** From the call that begins it until the agent takes prompts, in milliseconds. */
  readonly startMs: number
  /** Hands over a prompt. Resolves at the end of the turn. */
  prompt(text: string): Promise<PromptTimes>
  end(): Promise<void>
}

interface PromptTimes {
  /** Until it was on disk and the device knew. */
  readonly keptMs: number
  /** Until the device had the first word of the answer. */
  readonly firstMs: number
}

const LONGEST_MS = 60_000

/** Begins a session of an agent. Resolves when the agent takes prompts. */
export async function startWatched(place: RunningPlace, agent: string): Promise<WatchedSession> {
  const { live } = place.throughline
  const id = randomUUID()
  let hear: ((said: SessionView | SessionEvent) => void) | undefined
  const subscription = place.throughline.subscribe(
    { kind: 'live', id },
    {
      onEvent(event) {
        if (event.kind === 'live.view') hear?.(event.view)
        else if (event.kind === 'live.event') hear?.(event.event)
      },
    },
  )
  const heard = (what: string, isIt: (said: SessionView | SessionEvent) => boolean): Promise<number> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${agent}: no ${what} in time`)), LONGEST_MS)
      hear = (said) => {
        if (!isIt(said)) return
        clearTimeout(timer)
        resolve(performance.now())
      }
    })
  const begun = performance.now()
  const ready = heard('start', (said) => 'state' in said && isIdle(said.state))
  await live.start({ agent, workdir: place.folder('work'), sessionId: id, wakeUp: false })
  const startMs = (await ready) - begun
  return {
    id,
    startMs,
    async prompt(text) {
      let first: number | undefined
      const over = heard('answer', (said) => {
        if ('kind' in said && said.kind === 'delta' && said.what === 'text') first ??= performance.now()
        return 'kind' in said && said.kind === 'turn.ended'
      })
      const at = performance.now()
      await live.prompt(id, { id: randomUUID(), blocks: [{ kind: 'text', text }] })
      const keptMs = performance.now() - at
      await over
      if (first === undefined) throw new Error(`${agent}: a turn without a word`)
      return { keptMs, firstMs: first - at }
    },
    async end() {
      subscription.close()
      await live.end(id)
    },
  }
}

function isIdle(state: unknown): boolean {
  return string(state, 'state') === 'idle'
}
