import { getEgress, guardEgress, redact } from '#redact'

/** A text without the secrets in it, for whatever leaves this machine's person. Throws `redaction-failed`. */
export function maskSecrets(text: string): string {
  return getEgress(guardEgress(() => redact(text)))
}
