import { quoted, type Connection, type Connections } from './connection.ts'
import { createBell, keepListening, type Ear } from './listening.ts'
import type { Listening, ListenRequest, LogNews } from './team-log.ts'

const POLL_MS = 5000
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
  let cursor = request.after
  let seenAt = performance.now()

  /** As long as one connection holds. */
  async function follow({ connection, signal, onConnected }: Ear): Promise<void> {
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
    }
  }

  return keepListening(connections, { follow, onTrouble, longestPauseMs: LONGEST_PAUSE_MS })
}

/** Grows whenever it may have changed who may see what. */
async function readAccess(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ access: number }>('SELECT access FROM team')
  return row?.access ?? 0
}
