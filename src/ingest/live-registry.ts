import type { LiveState } from '#model'
import { bySession, lifeOf, toLive, type Holder, type Registry } from '#sources'
import { findStatsOf } from './folder-mark.ts'

export interface LiveRegistryOptions {
  readonly registry: Registry
  /** When the session last wrote something, in milliseconds: a session that went on after its process died is not gone. */
  lastActivity?(sessionId: string): number | undefined
  /** Told after the state of sessions has changed, all that changed at once together. */
  onChange(changes: readonly LiveChange[]): void
  /** How often the processes are looked at: their death makes no file event. */
  readonly intervalMs?: number
  readonly now: () => number
}

export interface LiveChange {
  readonly sessionId: string
  /** Absent: no process holds it any more, and it ended as it should. */
  readonly live: LiveState | undefined
}

export interface LiveRegistry {
  /** Every session that a process holds, or held when it died. */
  readonly states: ReadonlyMap<string, LiveState>
  /** Something happened in the registry's folder, or it is time to make sure: reads it, and tells what changed. */
  refresh(): void
  close(): void
}

const INTERVAL_MS = 500
/** A file that was being written is looked at again this soon. */
const AGAIN_MS = 20

/**
 * Knows which sessions a process holds, and what it does: idle, busy, waiting for a person, gone. `refresh` on every
 * hint makes a change known at once; a process that dies is noticed within `intervalMs`. Without a registry file
 * nothing runs, and it keeps no process alive.
 */
export function openLiveRegistry(options: LiveRegistryOptions): LiveRegistry {
  const { registry, intervalMs = INTERVAL_MS } = options
  let holders: readonly Holder[] = []
  let stamp = ''
  const states = new Map<string, LiveState>()
  /** Processes that were seen to live; when one was first seen dead, that is when it was last there. */
  const lastSeen = new Map<string, { died?: number }>()
  let ticking: NodeJS.Timeout | undefined
  let again: NodeJS.Timeout | undefined
  let closed = false

  function refresh(): void {
    if (closed) return
    // Before it is read: what is written from here on changes it.
    stamp = stampOf(registry.dir, holders)
    const reading = registry.read()
    // Somebody is writing these: what they said before holds until they can be read.
    const unclear = new Set(reading.unreadable)
    const kept = holders.filter(({ file }) => unclear.has(file))
    holders = [...reading.holders, ...kept]
    if (unclear.size > 0 && kept.length > 0) again ??= setTimeout(lookAgain, AGAIN_MS).unref()
    evaluate()
  }

  function lookAgain(): void {
    again = undefined
    refresh()
  }

  function evaluate(): void {
    const lives = new Map(holders.map((holder) => [holder, lifeOf(holder)]))
    const life = (holder: Holder): ReturnType<typeof lifeOf> => lives.get(holder) ?? 'dead'
    const dated = holders.map((holder) => {
      const seen = dateOf(holder, life(holder))
      if (seen === undefined) return holder
      const copy = { ...holder, lastSeenMs: seen }
      lives.set(copy, life(holder))
      return copy
    })
    forgetOthers()
    const now = new Map<string, LiveState>()
    for (const [sessionId, held] of bySession(dated)) {
      const state = toLive(held, { lastActivityMs: options.lastActivity?.(sessionId), life })
      if (state !== undefined) now.set(sessionId, state)
    }
    setTicking([...lives.values()].includes('alive'))
    publish(now)
  }

  /** When a process that we saw living was found dead. */
  function dateOf(holder: Holder, life: ReturnType<typeof lifeOf>): number | undefined {
    const key = keyOf(holder)
    if (life === 'alive') lastSeen.set(key, {})
    const seen = lastSeen.get(key)
    if (life !== 'dead' || seen === undefined) return undefined
    return (seen.died ??= options.now())
  }

  function forgetOthers(): void {
    const known = new Set(holders.map(keyOf))
    for (const key of lastSeen.keys()) if (!known.has(key)) lastSeen.delete(key)
  }

  function setTicking(wanted: boolean): void {
    if (!wanted) {
      clearInterval(ticking)
      ticking = undefined
    } else if (!closed) ticking ??= setInterval(tick, intervalMs).unref()
  }

  function tick(): void {
    const died = holders.some((holder) => lastSeen.get(keyOf(holder))?.died === undefined && isLost(holder))
    // The stamps make up for hints that did not come.
    if (died || stampOf(registry.dir, holders) !== stamp) refresh()
  }

  function isLost(holder: Holder): boolean {
    return lastSeen.has(keyOf(holder)) && lifeOf(holder) !== 'alive'
  }

  function publish(now: ReadonlyMap<string, LiveState>): void {
    const changes: LiveChange[] = []
    for (const [sessionId, live] of now) {
      if (!isSame(states.get(sessionId), live)) changes.push({ sessionId, live })
    }
    for (const sessionId of states.keys()) {
      if (!now.has(sessionId)) changes.push({ sessionId, live: undefined })
    }
    for (const { sessionId, live } of changes) {
      if (live === undefined) states.delete(sessionId)
      else states.set(sessionId, live)
    }
    if (changes.length > 0 && opened) options.onChange(changes)
  }

  let opened = false
  refresh()
  opened = true
  return {
    states,
    refresh,
    close() {
      closed = true
      clearTimeout(again)
      setTicking(false)
    },
  }
}

function keyOf({ file, pid, started }: Holder): string {
  return `${file}:${pid}:${started ?? ''}`
}

function isSame(a: LiveState | undefined, b: LiveState): boolean {
  return (
    a !== undefined &&
    a.pid === b.pid &&
    a.status === b.status &&
    a.waitingFor === b.waitingFor &&
    a.updatedAt === b.updatedAt
  )
}

/** Changes when a file of the registry comes, goes or is written. */
function stampOf(dir: string, holders: readonly Holder[]): string {
  return [dir, ...holders.map(({ file }) => file)].map(timeOf).join()
}

function timeOf(path: string): number | undefined {
  return findStatsOf(path)?.mtimeMs
}
