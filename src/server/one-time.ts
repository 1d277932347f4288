import { createHash, randomBytes } from 'node:crypto'

/** Words that are good once, for a short time, in this process only. */
export interface OneTimeWords<T> {
  /** A new word that stands for `value`. */
  issue(value: T): { readonly word: string; readonly expiresAt: number }
  /** What the word stands for, and never again. */
  redeem(word: string): T | undefined
}

/** At most this many wait to be used; the oldest give way. */
const MOST = 4096

export function createOneTimeWords<T>(options: {
  readonly lifeMs: number
  readonly now: () => number
}): OneTimeWords<T> {
  const waiting = new Map<string, { readonly value: T; readonly expiresAt: number }>()

  function sweep(): void {
    for (const [key, { expiresAt }] of waiting) {
      if (expiresAt > options.now() && waiting.size < MOST) return
      waiting.delete(key)
    }
  }

  return {
    issue(value) {
      sweep()
      const word = randomBytes(24).toString('base64url')
      const expiresAt = options.now() + options.lifeMs
      waiting.set(hashOf(word), { value, expiresAt })
      return { word, expiresAt }
    },
    redeem(word) {
      const key = hashOf(word)
      const found = waiting.get(key)
      waiting.delete(key)
      return found !== undefined && found.expiresAt > options.now() ? found.value : undefined
    },
  }
}

/** How secrets are looked up: what a comparison lets out by its time is about the hash, which nobody can choose. */
export function hashOf(word: string): string {
  return createHash('sha256').update(word).digest('hex')
}
