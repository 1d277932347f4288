import { guardEgress } from './egress.ts'
import { redact } from './redact.ts'

/** A text for a log: without its secrets, and not there at all when they could not be looked for. Never throws. */
export function toLogText(text: string): string {
  const egress = guardEgress(() => redact(text))
  return egress.state === 'redacted' ? egress.text : '[left out: it could not be searched for secrets]'
}
