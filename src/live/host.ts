import { chmod, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { ThroughlineError } from '#base'
import { findProcess, isRunning } from '#drivers'
import type { Driver, StartOptions } from '#drivers'
import { openJournal, takeLock } from '#journal'
import type { Lock } from '#journal'
import type { PermissionMode } from '#model'
import { watchFolder } from './ask-grounds.ts'
import { openAudit } from './audit.ts'
import type { Audit } from './audit.ts'
import { createBell } from './bell.ts'
import type { Clock } from './clock.ts'
import { within } from './clock.ts'
import { buryHost } from './dead-host.ts'
import type { HostOrder } from './host-order.ts'
import { findHostCommand, fromError, HOST_PROTOCOL } from './host-protocol.ts'
import type { HostCommand, HostHello } from './host-protocol.ts'
import { createLineSocket } from './line-socket.ts'
import type { LineSocket } from './line-socket.ts'
import { openLiveSession } from './open-live-session.ts'
import type { LiveSession } from './session-opening.ts'
import { sweepProcesses } from './process-sweep.ts'
import { findRunFile, makeRunFolder, removeRunFiles, runPaths, writeRunFile } from './run-file.ts'
import { readSessionJournal, sessionJournalPath } from './session-journal.ts'
import { withAddress } from './socket-address.ts'

export interface Host {
  readonly hello: HostHello
  /** Ends the session, as when the machine shuts down. */
  stop(): Promise<void>
  /** Resolves when the session is over and nothing of the host is left but its process. */
  readonly ended: Promise<void>
}

export interface HostOptions {
  readonly order: HostOrder
  readonly driver: Driver
  readonly clock: Clock
  readonly mintId: () => string
  readonly pid: number
}

const LOCK_MS = 3_000
const PAUSE_MS = 20
const HOUR_MS = 3_600_000
/** How long the end of a session waits for somebody to hear of it. */
const FAREWELL_MS = 2_000

/**
 * Holds one live session: its driver, its journal, its open attentions. When it resolves, the session is `pending` and
 * the socket in `<home>/run` answers. Nobody needs to be connected: the agent goes on to its next attention and waits
 * there; but when nobody was for `orphanMs`, the session ends.
 *
 * Rejects with `session-held` while another host has the session. What an earlier one left behind is cleaned up first.
 */
export async function openHost(options: HostOptions): Promise<Host> {
  const { order, clock, pid, mintId } = options
  const { home, sessionId } = order
  const paths = runPaths(home, sessionId)
  await makeRunFolder(home)
  const lock = await takeHostLock(home, { sessionId, clock })
  try {
    await buryHost(home, sessionId, { clock })
    const path = await sessionJournalPath(home, sessionId, clock.now())
    const journal = await openJournal(path)
    const run = mintId()
    let audit: Audit | undefined
    try {
      audit = await openAudit(home, sessionId, { clock })
      const before = await readSessionJournal(path)
      await writeRunFile(home, { sessionId, run, process: findProcess(pid) ?? { pid, start: '' } })
      const session = await openLiveSession({
        driver: options.driver,
        start: toStart(order, order.mode ?? before.mode ?? 'default'),
        widest: order.widest,
        run,
        pid,
        journal,
        audit,
        folderHash: order.folderHash,
        before,
        clock,
        mintId,
        idleMs: order.idleMs,
        deadlineMs: order.deadlineMs,
        watchFolder,
        sweep: () => sweepProcesses(sessionId),
      })
      const hello = { protocol: HOST_PROTOCOL, sessionId, run, pid }
      const door = await openDoor(session, {
        hello,
        path: paths.socket,
        clock,
        orphanMs: order.orphanMs ?? HOUR_MS,
      })
      const leave = async (): Promise<void> => {
        await session.ended
        await door.shut()
        await audit?.close()
        await journal.close()
        await removeRunFiles(home, sessionId)
        await lock.release()
        // Last of all: for whoever sees the connection end, the session is free.
        await door.close()
      }
      return { hello, ended: leave(), stop: () => session.end('host-stopped') }
    } catch (error) {
      await audit?.close()
      await journal.close()
      await removeRunFiles(home, sessionId)
      throw error
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Whoever only cleans up after a dead host has the lock for a moment: then this waits. */
async function takeHostLock(
  home: string,
  { sessionId, clock }: { readonly sessionId: string; readonly clock: Clock },
): Promise<Lock> {
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      return await takeLock(runPaths(home, sessionId).lock)
    } catch (error) {
      const file = await findRunFile(home, sessionId)
      if ((file && isRunning(file.process)) || waited >= LOCK_MS) throw held(sessionId, error)
    }
    await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve))
  }
}

function toStart(order: HostOrder, mode: PermissionMode): Omit<StartOptions, 'onFact' | 'ask'> {
  const { sessionId, workdir, resume, model, trusted, env } = order
  return { sessionId, workdir, resume, model, mode, trusted, env }
}

type Door = {
  /** Lets nobody in any more. */
  shut(): Promise<void>
  /** Sees everybody off. */
  close(): Promise<void>
}
type DoorOptions = {
  readonly hello: HostHello
  readonly path: string
  readonly clock: Clock
  readonly orphanMs: number
}

/** The socket of a host, and everybody who came in. */
async function openDoor(session: LiveSession, { hello, path, clock, orphanMs }: DoorOptions): Promise<Door> {
  const visitors = new Set<LineSocket>()
  let stopOrphaned: (() => void) | undefined
  const visited = createBell()
  let isClosing = false

  function watchOrphaned(): void {
    stopOrphaned?.()
    stopOrphaned =
      visitors.size > 0 || isClosing ? undefined : clock.after(orphanMs, () => void session.end('orphaned'))
  }

  function receive(socket: Socket): void {
    let stopListening: (() => void) | undefined
    const visitor = createLineSocket(socket, (value) => {
      void answer(value)
    })
    visitors.add(visitor)
    watchOrphaned()
    void leave()

    async function leave(): Promise<void> {
      await visitor.closed
      stopListening?.()
      visitors.delete(visitor)
      watchOrphaned()
    }

    async function answer(value: unknown): Promise<void> {
      const re = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
      const command = findHostCommand(value)
      if (typeof re !== 'number' || !command) {
        visitor.send(JSON.stringify({ re: re ?? 0, error: fromError(notUnderstood()) }))
        return
      }
      try {
        const result = command.do === 'listen' ? listen(command) : await obey(command)
        visitor.send(JSON.stringify({ re, value: result ?? null }))
      } catch (error) {
        visitor.send(JSON.stringify({ re, error: fromError(error) }))
      }
    }

    function listen({ after }: Extract<HostCommand, { readonly do: 'listen' }>): void {
      stopListening?.()
      stopListening = session.listen((news) => {
        visitor.send('view' in news ? JSON.stringify(news) : `{"event":${news.json}}`)
      }, after)
      visited.ring()
    }
  }

  async function obey(command: Exclude<HostCommand, { readonly do: 'listen' }>): Promise<unknown> {
    switch (command.do) {
      case 'hello':
        return hello
      case 'prompt':
        return await session.prompt(command.prompt)
      case 'resolve':
        return await session.resolve(command.answer)
      case 'interrupt':
        return await session.interrupt()
      case 'mode':
        return await session.setMode(command.mode, command.by)
      case 'model':
        return await session.setModel(command.model, command.by)
      case 'end':
        return await session.end('ended')
    }
  }

  const server = await listenOn(path, receive)
  watchOrphaned()
  return {
    async shut() {
      // Whoever started it may only be on the way here, to learn why it is over already.
      await within(visited.rung, { ms: FAREWELL_MS, clock }).catch(() => {})
      server.close()
    },
    async close() {
      isClosing = true
      stopOrphaned?.()
      await Promise.all(
        [...visitors].map((visitor) =>
          within(visitor.end(), { ms: FAREWELL_MS, clock }).catch(() => visitor.destroy()),
        ),
      )
    },
  }
}

async function listenOn(path: string, receive: (socket: Socket) => void): Promise<Server> {
  await rm(path, { force: true })
  const server = createServer(receive)
  await withAddress(
    path,
    async (address) =>
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ path: address, exclusive: true }, resolve)
      }),
  )
  server.on('error', () => {})
  if (process.platform !== 'win32') await chmod(path, 0o600)
  return server
}

function held(sessionId: string, cause: unknown): unknown {
  if (!(cause instanceof ThroughlineError) || cause.code !== 'journal-locked') return cause
  const pid = /process (\d+)/.exec(cause.message)?.[1]
  const by = pid === undefined ? 'another process' : `process ${pid}`
  return new ThroughlineError('session-held', `session ${sessionId} is held by ${by}`, {
    hint: 'Use that one, end it first, or fork the session.',
    cause,
  })
}

function notUnderstood(): ThroughlineError {
  return new ThroughlineError('request-invalid', 'this is no command that a host knows', {
    hint: 'A host and its daemon have to be of the same version.',
  })
}
