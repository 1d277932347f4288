import { setTimeout as sleep } from 'node:timers/promises'
import type { Connections, TakenConnection } from './connection.ts'
import type { Listening } from './team-log.ts'

const FIRST_PAUSE_MS = 100

export interface FollowOptions {
  /** As long as one connection holds: calls `onConnected` when it does. */
  readonly follow: (ear: Ear) => Promise<void>
  readonly onTrouble?: ((error: Error) => void) | undefined
  readonly longestPauseMs: number
}

/** A connection that listens. */
export interface Ear {
  readonly connection: TakenConnection
  readonly signal: AbortSignal
  readonly onConnected: () => void
}

/** Follows what a connection hears, and takes another one when it breaks, until it is closed. */
export function keepListening(
  connections: Connections,
  { follow, onTrouble, longestPauseMs }: FollowOptions,
): Listening {
  const closing = new AbortController()
  const { signal } = closing
  const over = run()

  async function run(): Promise<void> {
    let pause = FIRST_PAUSE_MS
    while (!signal.aborted) {
      try {
        const connection = await connections.take()
        try {
          await follow({ connection, signal, onConnected: () => (pause = FIRST_PAUSE_MS) })
        } finally {
          connection.release()
        }
      } catch (error) {
        if (signal.aborted) return
        onTrouble?.(error instanceof Error ? error : new Error(String(error)))
      }
      await sleep(pause, undefined, { signal }).catch(() => {})
      pause = Math.min(pause * 2, longestPauseMs)
    }
  }

  return {
    async close() {
      closing.abort()
      await over
    },
  }
}

/** Rings when a connection is told something. */
interface Bell {
  reset(): void
  /** Until somebody rings, the connection breaks, or it is time to look anyway. */
  wait(ms: number): Promise<void>
  isBroken(): boolean
  end(): void
}

/** A bell that rings when a connection is told something, breaks, or is not wanted any more. */
export function createBell(connection: TakenConnection, signal: AbortSignal): Bell {
  let hasRung = false
  let isBroken = false
  let wake: (() => void) | undefined
  const ring = (): void => {
    hasRung = true
    wake?.()
  }
  connection.onNotification(ring)
  connection.onEnd(() => {
    isBroken = true
    ring()
  })
  signal.addEventListener('abort', ring)
  return {
    reset: () => {
      hasRung = false
    },
    isBroken: () => isBroken,
    end: () => signal.removeEventListener('abort', ring),
    async wait(ms) {
      if (hasRung || isBroken) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      wake = undefined
    },
  }
}
