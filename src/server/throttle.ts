import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from './errors.ts'

/** Slows down whoever guesses. Whoever is right is never asked to wait. */
export interface Throttle {
  /** Counts a wrong credential. Resolves when it may be answered, or throws `too-many-requests`. */
  failed(peer: string): Promise<void>
}

const WINDOW_MS = 60_000
/** So many wrong ones a minute are a person's mistakes. */
const FREE = 10
/** So many more are answered late, each twice as late as the one before. */
const SLOWED = 6
const FIRST_DELAY_MS = 50
const MOST_PEERS = 1000

export function createThrottle(now: () => number): Throttle {
  const failures = new Map<string, { since: number; count: number }>()

  function count(peer: string): number {
    const known = failures.get(peer)
    // A clock that was set back must not lock anybody out.
    if (known !== undefined && now() - known.since < WINDOW_MS && now() >= known.since) return ++known.count
    failures.delete(peer)
    if (failures.size >= MOST_PEERS) failures.clear()
    failures.set(peer, { since: now(), count: 1 })
    return 1
  }

  return {
    async failed(peer) {
      const over = count(peer) - FREE
      if (over <= 0) return
      if (over > SLOWED) throw tooMany()
      await sleep(FIRST_DELAY_MS * 2 ** (over - 1))
    },
  }
}

function tooMany(): Refusal {
  return new Refusal(429, 'too-many-requests', {
    message: 'too many wrong credentials from this address',
    hint: 'Wait a minute, then log in again with `throughline open`.',
    headers: { 'retry-after': '60' },
  })
}
