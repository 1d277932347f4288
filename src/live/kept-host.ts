import { takeLock } from '#journal'
import { isRunning } from '#drivers'
import type { GrowingView, SessionEvent, SessionFact, SessionView } from '#model'
import { createView } from '#model'
import { toIso } from './clock.ts'
import type { Clock } from './clock.ts'
import { createBell } from './bell.ts'
import { buryHost } from './dead-host.ts'
import type { Burial } from './dead-host.ts'
import { openHostLink } from './host-link.ts'
import type { HostLink } from './host-link.ts'
import type { HostCommand, HostWord } from './host-protocol.ts'
import { findRunFile, runPaths } from './run-file.ts'

/** What a daemon is told of a live session: how it stands, and then each event once. */
export type KeptNews = { readonly view: SessionView } | { readonly event: SessionEvent }

/** A host as a daemon keeps it: connected again whenever the connection is lost, buried when it is dead. */
export interface KeptHost {
  readonly sessionId: string
  /** Not there before the host has said how it stands. */
  view(): SessionView | undefined
  call(command: HostCommand): Promise<unknown>
  /** Lets the host go; it lives on. */
  close(): void
  /** Resolves when the host is no more, or was let go. */
  readonly gone: Promise<void>
}

export interface KeptHostOptions {
  readonly home: string
  readonly sessionId: string
  readonly clock: Clock
  readonly onNews: (news: KeptNews) => void
  /** Whether nobody wants it any more. Asked while it does not answer. */
  readonly isOver: () => boolean
}

const RETRY_MS = 100

/**
 * Connects to a host and stays connected. Resolves when it has said how it stands; gives `undefined` when there is
 * none: what it left is cleaned up then.
 */
export async function openKeptHost(options: KeptHostOptions): Promise<KeptHost | undefined> {
  const { home, sessionId, clock, onNews } = options
  const socket = runPaths(home, sessionId).socket
  let view: GrowingView | undefined
  let link: HostLink | undefined
  let isLetGo = false
  const gone = createBell()

  function hear(word: Exclude<HostWord, { readonly re: number }>): void {
    if ('view' in word) view = createView(word.view)
    else view?.add(word.event)
    onNews(word)
  }

  async function linkUp(): Promise<HostLink | undefined> {
    for (;;) {
      const now = view?.read()
      if (isLetGo || options.isOver() || now?.state.state === 'ended') return undefined
      const after = now && { run: now.run, seq: now.seq }
      const opened = await openHostLink({ socket, after, clock, onNews: hear }).catch(() => undefined)
      if (opened) return opened
      // What cannot be cleaned up now, as on a full disk, is tried again.
      const buried = await tryBury(options).catch(() => undefined)
      if (buried) {
        mourn(buried)
        return undefined
      }
      // It lives and does not answer: it is only beginning, stopped, or very busy.
      await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve))
    }
  }

  /** Tells what a dead host cannot tell any more. */
  function mourn({ lapsed, ended }: Burial): void {
    const at = toIso(clock)
    for (const { id } of lapsed) {
      say({ kind: 'attention.settled', id, state: { state: 'lapsed', reason: 'agent-gone', at } })
    }
    say({ kind: 'state.changed', state: { state: 'ended', reason: ended } })
  }

  function say(fact: SessionFact): void {
    const seq = (view?.read().seq ?? 0) + 1
    if (view) hear({ event: { ...fact, seq, at: toIso(clock) } })
  }

  async function stay(first: HostLink): Promise<void> {
    for (let current: HostLink | undefined = first; current; current = await linkUp()) {
      link = current
      await current.closed
      link = undefined
    }
    gone.ring()
  }

  const first = await linkUp()
  if (!first) return undefined
  void stay(first)
  return {
    sessionId,
    view: () => view?.read(),
    async call(command) {
      const current = link ?? first
      return await current.call(command)
    },
    close() {
      isLetGo = true
      link?.close()
    },
    gone: gone.rung,
  }
}

/**
 * Cleans up after a host if it is dead, and gives what was found. `undefined`: it lives, by its process or by its lock.
 */
async function tryBury({
  home,
  sessionId,
  clock,
}: Pick<KeptHostOptions, 'home' | 'sessionId' | 'clock'>): Promise<Burial | undefined> {
  const file = await findRunFile(home, sessionId)
  if (file && isRunning(file.process)) return undefined
  const lock = await takeLock(runPaths(home, sessionId).lock).catch(() => undefined)
  if (!lock) return undefined
  try {
    return await buryHost(home, sessionId, { clock })
  } finally {
    await lock.release()
  }
}
