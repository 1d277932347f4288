import { createHash } from 'node:crypto'
import { join, resolve as toAbsolute } from 'node:path'
import { maskSecrets, openThroughline, watchAttentions, type LocalThroughline, type OpenOptions } from '#app'
import { field, ThroughlineError } from '#base'
import type { Throughline } from '#wire'
import { findLockHolder, takeLock, type Lock } from '#journal'
import type { Notice } from '#wire'
import {
  lockPathOf,
  readDaemonFile,
  readHomeIdentity,
  writeDaemonFile,
  writeStoppedFile,
  type DaemonFacts,
} from './daemon-file.ts'
import { toHomeTrouble } from './home-trouble.ts'
import { openLogFile } from './log-file.ts'
import { toLogFields, type Log } from './log.ts'
import { openServer, type RunningServer, type ServerOptions } from './open-server.ts'
import { makePrivateFolder, openHome } from './secret.ts'
import { conversationPieces, pagePieces } from './wire-json.ts'

export interface DaemonOptions extends Pick<
  ServerOptions,
  'host' | 'tls' | 'allowedHosts' | 'now' | 'version' | 'limits'
> {
  readonly home: string
  /** How Throughline is opened; its home is `home`. */
  readonly open?: OpenOptions
  /** Only this port. Default: the one of the last time, else `firstPort`, else one that depends on the home. */
  readonly port?: number
  readonly firstPort?: number | undefined
  /** Hears what the log file is told. */
  readonly log?: Log
}

export interface RunningDaemon extends DaemonFacts {
  readonly throughline: LocalThroughline
  readonly server: RunningServer
  /** Resolves once it has stopped, with the reason. */
  readonly stopped: Promise<StopReason>
  /** Stops it, in less than five seconds. */
  close(): Promise<void>
}

/** `home-gone`: its folder was deleted or emptied, and there is nowhere left to keep anything. */
export type StopReason = 'closed' | 'asked' | 'home-gone'

export const DEFAULT_PORT = 4700
/** By then whoever waited for the start has the list. */
const WARM_UP_MS = 600
const WARM_UP_SIZE = 4 * 1024 * 1024
const HOME_CHECK_MS = 2000

/**
 * Opens the one daemon of a home: lock, Throughline, server, `daemon.json`, log. Rejects with `daemon-running`, naming
 * the one that is there, while another has the home; the lock goes with its process, however that ends. Rejects with
 * `config-invalid` when the home takes no change.
 */
export async function openDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  process.umask(0o077)
  const { home, now } = options
  const lock = await takeHome(home)
  const undo: (() => Promise<unknown>)[] = [() => lock.release()]
  try {
    const startedAt = new Date(now()).toISOString()
    const file = await openLogFile(join(home, 'logs', 'daemon.jsonl'), { now, mask: maskSecrets })
    undo.unshift(() => file.close())
    const log: Log = (level, event, fields) => {
      file.log(level, event, fields)
      options.log?.(level, event, fields)
    }
    const strays = catchStrays(log)
    undo.unshift(async () => strays.close())
    const throughline = await openThroughline({
      index: true,
      ...options.open,
      config: { ...options.open?.config, home },
    })
    undo.unshift(() => throughline.close())
    const ending = createEnding()
    const noticed: Notice[] = []
    const server = await openOnSomePort(options, {
      throughline,
      startedAt,
      log,
      onStop: () => ending.begin('asked'),
      notices: () => [...strays.notices(now()), ...noticed],
    })
    undo.unshift(() => server.close())
    const { address, port } = server
    const facts: DaemonFacts = { pid: process.pid, address, port, startedAt, version: options.version }
    await writeDaemonFile(home, facts)
    log('info', 'daemon.started', { pid: facts.pid, address, version: options.version })

    void logNotices(throughline, log)
    const attentions = watchAttentions({
      home,
      throughline,
      isWatched: () => server.devices() > 0,
      onNotice: (message) =>
        noticed.push({ at: new Date(now()).toISOString(), message, hint: 'The board shows what waits.' }),
    })

    const warming = setTimeout(() => void warmUp(throughline), WARM_UP_MS)
    const watch = watchHome(home, await readHomeIdentity(home), () => {
      file.abandon()
      options.log?.('error', 'home.gone', { home })
      ending.begin('home-gone')
    })
    ending.onBegin(shutDown)

    async function shutDown(reason: StopReason): Promise<StopReason> {
      clearInterval(watch)
      clearTimeout(warming)
      log('info', 'daemon.stopped', { reason })
      const steps: readonly (() => unknown)[] = [
        () => attentions.close(),
        () => server.close(),
        () => throughline.close(),
        () =>
          reason === 'home-gone' ? undefined : writeStoppedFile(home, port, new Date(now()).toISOString()),
        () => file.close(),
        () => lock.release(),
        () => strays.close(),
      ]
      for (const step of steps) {
        try {
          await step()
        } catch (error) {
          // A disk that takes nothing must not keep the lock, nor anybody who waits for the end.
          log('error', 'daemon.stop-failed', toLogFields(error))
        }
      }
      return reason
    }

    return {
      ...facts,
      throughline,
      server,
      stopped: ending.stopped,
      async close() {
        ending.begin('closed')
        await ending.stopped
      },
    }
  } catch (error) {
    options.log?.('error', 'daemon.failed', toLogFields(error))
    for (const step of undo) await step().catch(() => {})
    throw toHomeTrouble(error, home)
  }
}

/**
 * Errors that nobody waited for. What is durable here was acknowledged after it was on disk, and everything else can be
 * made again, so a daemon that many devices depend on says it and goes on.
 */
function catchStrays(log: Log): { notices(now: number): readonly Notice[]; close(): void } {
  let count = 0
  const onStray = (error: unknown): void => {
    count++
    log('error', 'stray', toLogFields(error))
  }
  process.on('unhandledRejection', onStray)
  process.on('uncaughtException', onStray)
  return {
    notices(now) {
      if (count === 0) return []
      const message = `${count} thing${count === 1 ? '' : 's'} failed that nobody waited for`
      return [{ at: new Date(now).toISOString(), message, hint: 'See `throughline logs`.' }]
    },
    close() {
      process.off('unhandledRejection', onStray)
      process.off('uncaughtException', onStray)
    },
  }
}

/** The end of something that may be asked to end by several, and even before it knows how. */
function createEnding(): {
  readonly stopped: Promise<StopReason>
  begin(reason: StopReason): void
  onBegin(how: (reason: StopReason) => Promise<StopReason>): void
} {
  const { promise: begun, resolve: begin } = withResolver<StopReason>()
  const { promise: how, resolve: onBegin } = withResolver<(reason: StopReason) => Promise<StopReason>>()
  const stopped = Promise.all([begun, how]).then(([reason, end]) => end(reason))
  // Whoever does not wait for the end is not punished for a bad one.
  stopped.catch(() => {})
  return { stopped, begin, onBegin }
}

function withResolver<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: ((value: T) => void) | undefined
  const promise = new Promise<T>((resolve) => {
    settle = resolve
  })
  return { promise, resolve: (value) => settle?.(value) }
}

async function takeHome(home: string): Promise<Lock> {
  try {
    await openHome(home)
    return await takeDaemonLock(home)
  } catch (error) {
    throw toHomeTrouble(error, home)
  }
}

async function takeDaemonLock(home: string): Promise<Lock> {
  const path = lockPathOf(home)
  await makePrivateFolder(join(home, 'run'))
  try {
    return await takeLock(path)
  } catch (cause) {
    if (!(cause instanceof ThroughlineError) || cause.code !== 'journal-locked') throw cause
    const { pid, address } = await readDaemonFile(home)
    const holder = (await findLockHolder(path)) ?? pid
    const where = address === undefined || pid !== holder ? 'and is about to listen' : `at ${address}`
    throw new ThroughlineError(
      'daemon-running',
      `process ${holder ?? 'unknown'} already serves ${home} ${where}`,
      {
        hint: 'Use it with `throughline open`, or stop it with `throughline stop`.',
        cause,
      },
    )
  }
}

async function openOnSomePort(
  options: DaemonOptions,
  rest: Pick<ServerOptions, 'throughline' | 'startedAt' | 'log' | 'onStop' | 'notices'>,
): Promise<RunningServer> {
  const { port: last } = await readDaemonFile(options.home)
  const { home, firstPort } = options
  const ports = options.port === undefined ? [last, firstPort, ...portsOf(home), 0] : [options.port]
  for (const port of ports) {
    if (port === undefined) continue
    try {
      return await openServer({ ...options, ...rest, port })
    } catch (error) {
      if (field(error, 'code') !== 'EADDRINUSE') throw error
    }
  }
  throw new ThroughlineError('config-invalid', `port ${options.port} is taken by another program`, {
    hint: 'Choose another one, or none: a free one is then found.',
  })
}

/**
 * Each home has ports of its own, so that two daemons that start again at the same time do not take each other's. Ports
 * that systems hand out by themselves (from 32768 on) may be in use by anyone at any moment.
 */
function portsOf(home: string): readonly number[] {
  const from = createHash('sha256').update(toAbsolute(home)).digest().readUInt32BE(0)
  return Array.from({ length: MOST_TRIES }, (_, at) => HOME_PORTS.first + ((from + at) % HOME_PORTS.count))
}

const MOST_TRIES = 10
const HOME_PORTS = { first: 10_000, count: 20_000 }

function watchHome(home: string, identity: string | undefined, onGone: () => void): NodeJS.Timeout {
  const timer = setInterval(() => {
    void readHomeIdentity(home).then((found) => {
      if (found !== identity) onGone()
      return found
    })
  }, HOME_CHECK_MS)
  return timer.unref()
}

/** What was wrong already when it started. */
async function logNotices(throughline: Throughline, log: Log): Promise<void> {
  try {
    const { notices } = await throughline.health()
    for (const { message, hint } of notices) log('warn', 'notice', { message, hint })
  } catch {
    // Whoever asks how it is is told.
  }
}

/** Looks at what is most likely asked for first, so that the first one who asks does not wait for code and disk. */
async function warmUp(throughline: Throughline): Promise<void> {
  try {
    const { sessions } = await throughline.list({ limit: 5 })
    for (const session of sessions) {
      const page = await throughline.page(session, { limit: 50, raw: false })
      // A small one makes the code warm as well, and takes no memory that nobody has asked for.
      if (session.size > WARM_UP_SIZE) continue
      const entries = await throughline.conversation(session, { raw: false })
      for (const piece of pagePieces(page)) void piece
      for await (const piece of conversationPieces([entries])) void piece
    }
  } catch {
    // Whoever asks is told what is wrong with a session.
  }
}
