import { ThroughlineError } from '#base'

/** `certain`: the shape belongs to one issuer, or is a private key. `likely`: what stands around it says so. */
export type Confidence = 'certain' | 'likely'

/** Where in a text a secret stands. `end` is behind its last character. */
export interface Secret {
  /** What it opens: `github-token`, `private-key`, `password`… */
  readonly kind: string
  readonly start: number
  readonly end: number
  readonly confidence: Confidence
}

/** Counts the work that is done on one text, so that no text can make it endless. */
export interface Effort {
  spend(steps: number): void
}

/** Throws `redaction-failed` once more steps were spent than there are. */
export function createEffort(steps: number): Effort {
  let left = steps
  return {
    spend(count) {
      left -= count
      if (left >= 0) return
      throw new ThroughlineError('redaction-failed', 'looking for secrets took more steps than it may', {
        hint: 'Nothing of the text was passed on. Pass it on in smaller pieces.',
      })
    },
  }
}

/** Sorted, and with overlapping secrets put together under the name of the surest, then the first of them. */
export function mergeSecrets(secrets: readonly Secret[]): readonly Secret[] {
  const sorted = secrets.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const merged: Secret[] = []
  for (const secret of sorted) {
    const last = merged.at(-1)
    if (last === undefined || secret.start >= last.end) {
      merged.push(secret)
      continue
    }
    const named = last.confidence === 'likely' && secret.confidence === 'certain' ? secret : last
    merged[merged.length - 1] = { ...named, start: last.start, end: Math.max(last.end, secret.end) }
  }
  return merged
}

const MASKED = /^(?:(?:\[redacted:[a-z-]+\]|[^\s:@[\]]{0,256}):)?\[redacted:[a-z-]+\]$/

/** Whether what stands before the `@` of an address was masked already: `user:[redacted:url-password]`. */
export function isMasked(credentials: string): boolean {
  return MASKED.test(credentials)
}
