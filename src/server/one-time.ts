import { createHash, randomBytes } from 'node:crypto'

/** Words that are good once, for a short time, in this process only. */
export interface OneTimeWords<T> {
  /** A new word that stands for `value`. An owner has a limited number of open words; the oldest is dropped first. */
  issue(value: T, owner: string): { readonly word: string; readonly expiresAt: number }
  /** What the word stands for, and never again. */
  redeem(word: string): T | undefined
  /** Voids every open word of an owner. */
  revoke(owner: string): void
}

/** Open words in all, and of one owner: nobody can push out the words of another with a flood of their own. */
const MOST = 4096
const MOST_OF_ONE = 256

type Open<T> = {
  readonly value: T
  readonly owner: string
  readonly issuedAt: number
  readonly ticks: number
}

export function createOneTimeWords<T>(options: {
  readonly lifeMs: number
  readonly now: () => number
  /** Milliseconds that only ever grow. Default: those of the process. */
  readonly ticks?: () => number
}): OneTimeWords<T> {
  const { now, lifeMs } = options
  const ticks = options.ticks ?? ((): number => performance.now())
  const waiting = new Map<string, Open<T>>()

  /** The wall clock can be set back, and the other one stands still while the machine sleeps: the later one decides. */
  const isGood = (word: Open<T>): boolean => Math.max(now() - word.issuedAt, ticks() - word.ticks) < lifeMs

  function sweep(): void {
    for (const [key, word] of waiting) {
      if (isGood(word) && waiting.size < MOST) return
      waiting.delete(key)
    }
  }

  function dropOldestOf(owner: string): void {
    const own = [...waiting].filter(([, word]) => word.owner === owner)
    for (const [key] of own.slice(0, Math.max(0, own.length - MOST_OF_ONE + 1))) waiting.delete(key)
  }

  return {
    issue(value, owner) {
      sweep()
      dropOldestOf(owner)
      const word = randomBytes(24).toString('base64url')
      const issuedAt = now()
      waiting.set(hashOf(word), { value, owner, issuedAt, ticks: ticks() })
      return { word, expiresAt: issuedAt + lifeMs }
    },
    redeem(word) {
      const key = hashOf(word)
      const found = waiting.get(key)
      waiting.delete(key)
      return found !== undefined && isGood(found) ? found.value : undefined
    },
    revoke(owner) {
      for (const [key, word] of waiting) if (word.owner === owner) waiting.delete(key)
    },
  }
}

/** How secrets are looked up: what a comparison lets out by its time is about the hash, which nobody can choose. */
export function hashOf(word: string): string {
  return createHash('sha256').update(word).digest('hex')
}
