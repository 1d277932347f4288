import { setTimeout as sleep } from 'node:timers/promises'
import { quoted, type Connections } from './connection.ts'
import type { DeskListenRequest } from './desk.ts'
import { createBell, keepListening, type Ear } from './listening.ts'
import type { Listening } from './team-log.ts'

const POLL_MS = 3000
const LONGEST_PAUSE_MS = 5000
/** However often others ring, it is looked so often at most. */
const REST_MS = 40
/** What is live, what is asked and answered, and what somebody may see. */
const RINGS: ReadonlySet<string> = new Set(['live', 'call', 'answer', 'access'])

/**
 * Rings when the database says that something is different, every few seconds, and after a lost connection. A ring says
 * that it is time to look, and nothing else.
 */
export function listenToDesk(
  connections: Connections,
  { onRing, onTrouble, pollMs = POLL_MS, channel }: DeskListenRequest & { readonly channel: string },
): Listening {
  async function follow({ connection, signal, onConnected }: Ear): Promise<void> {
    const bell = createBell(
      {
        ...connection,
        // Where it is also told what is written, that is nothing to look for here.
        onNotification: (told) => connection.onNotification((payload) => RINGS.has(payload) && told(payload)),
      },
      signal,
    )
    try {
      await connection.run(`LISTEN ${quoted(channel)}`)
      const [team] = await connection.query<{ channel: string | null }>('SELECT my_channel() AS channel')
      if (typeof team?.channel === 'string') await connection.run(`LISTEN ${quoted(team.channel)}`)
      while (!signal.aborted && !bell.isBroken()) {
        bell.reset()
        await onRing()
        onConnected()
        await sleep(REST_MS, undefined, { signal }).catch(() => {})
        await bell.wait(pollMs)
      }
    } finally {
      bell.end()
    }
  }

  return keepListening(connections, { follow, onTrouble, longestPauseMs: LONGEST_PAUSE_MS })
}
