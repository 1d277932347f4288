import { findSecrets, type FindOptions } from './find-secrets.ts'
import type { Secret } from './secret.ts'

/** A text without its secrets, and where they stood in the text it was made of. */
export interface Redaction {
  readonly text: string
  readonly found: readonly Secret[]
}

/**
 * Puts `[redacted:<kind>]` where a secret stands, and leaves every other character as it is. Of a text that was
 * redacted nothing more is taken away.
 */
export function redact(text: string, options: FindOptions = {}): Redaction {
  const found = findSecrets(text, options)
  let out = ''
  let from = 0
  for (const { kind, start, end } of found) {
    out += `${text.slice(from, start)}${toMask(kind)}`
    from = end
  }
  return { text: out + text.slice(from), found }
}

/** What stands for a secret of a kind. */
export function toMask(kind: string): string {
  return `[redacted:${kind}]`
}
