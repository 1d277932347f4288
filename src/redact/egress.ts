import { ThroughlineError } from '#base'
import type { Redaction } from './redact.ts'
import type { Secret } from './secret.ts'

/** What may leave, or why nothing does. */
export type Egress =
  | { readonly state: 'redacted'; readonly text: string; readonly found: readonly Secret[] }
  | { readonly state: 'refused'; readonly reason: string }

/**
 * Runs a redactor on the way out. One that throws, gives up, or gives no text back means that nothing leaves: there
 * is no way from here to the text as it was.
 */
export function guardEgress(work: () => Redaction): Egress {
  try {
    const { text, found } = work()
    if (typeof text !== 'string') return { state: 'refused', reason: 'the redactor gave no text back' }
    return { state: 'redacted', text, found }
  } catch (error) {
    // The message of somebody else's error may quote the text.
    const reason = error instanceof ThroughlineError ? error.message : 'the redactor failed'
    return { state: 'refused', reason }
  }
}

/** The text of what may leave; throws `redaction-failed` when nothing may. */
export function getEgress(egress: Egress): string {
  if (egress.state === 'redacted') return egress.text
  throw new ThroughlineError('redaction-failed', `nothing was passed on: ${egress.reason}`, {
    hint: 'What was asked for stays where it is. Try again with less of it.',
  })
}
