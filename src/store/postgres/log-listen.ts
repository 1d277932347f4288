import { setTimeout as sleep } from 'node:timers/promises'
import { quoted, type Connection, type Connections, type TakenConnection } from './connection.ts'
import type { Listening, ListenRequest, LogNews } from './team-log.ts'

const POLL_MS = 5000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** How often it is said that this machine is there. */
const SEEN_MS = 60_000

/**
 * Tells what is written, as it is written. A notification only says that it is time to look; what there is to tell is
 * read by number, so one that is lost costs a little time and nothing else.
 */
export function listenToLog(
  connections: Connections,
  request: ListenRequest & { readonly channel: string; readonly read: (after: number) => Promise<LogNews> },
): Listening {
  const { onNews, onAccess, onTrouble, channel, read, pollMs = POLL_MS } = request
  const closing = new AbortController()
  const { signal } = closing
  let cursor = request.after
  let seenAt = performance.now()
  const over = run()

  async function run(): Promise<void> {
    let pause = FIRST_PAUSE_MS
    while (!signal.aborted) {
      try {
        await follow(() => (pause = FIRST_PAUSE_MS))
      } catch (error) {
        if (signal.aborted) return
        onTrouble?.(error instanceof Error ? error : new Error(String(error)))
      }
      await sleep(pause, undefined, { signal }).catch(() => {})
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
  }

  /** As long as one connection holds. */
  async function follow(onConnected: () => void): Promise<void> {
    const connection = await connections.take()
    const bell = createBell(connection, signal)
    try {
      // First the ear, then the eyes: what comes between the two is told by one of them.
      await connection.run(`LISTEN ${quoted(channel)}`)
      onConnected()
      let access = -1
      while (!signal.aborted && !bell.isBroken()) {
        bell.reset()
        const now = await readAccess(connections)
        if (signal.aborted) return
        if (now !== access) onAccess?.()
        access = now
        if (performance.now() > seenAt + SEEN_MS) {
          seenAt = performance.now()
          // That this machine is here is good to know for others, and nothing that anything waits for.
          await connection.run('SELECT enter_team()').catch(() => {})
        }
        for (;;) {
          const news = await read(cursor)
          if (signal.aborted) return
          // Told before the cursor moves: who throws is told again.
          if (news.lines.length > 0) await onNews(news)
          cursor = news.next
          if (!news.more) break
        }
        await bell.wait(pollMs)
      }
    } finally {
      bell.end()
      connection.release()
    }
  }

  return {
    async close() {
      closing.abort()
      await over
    },
  }
}

/** Grows whenever it may have changed who may see what. */
async function readAccess(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ access: number }>('SELECT access FROM team')
  return row?.access ?? 0
}

interface Bell {
  reset(): void
  /** Until somebody rings, the connection breaks, or it is time to look anyway. */
  wait(ms: number): Promise<void>
  isBroken(): boolean
  end(): void
}

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
