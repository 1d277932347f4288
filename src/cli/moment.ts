import { ThroughlineError } from '#base'
import { safeLine } from '#render'
import { findSpan, isBareMonths } from './span.ts'

/** A time to come: so long from now, or a day. */
export function toMoment(text: string, now: number): string {
  const span = findSpan(text) ?? 0
  const time = span > 0 ? now + span : isBareMonths(text) ? Number.NaN : Date.parse(text)
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  throw new ThroughlineError('bad-usage', `"${safeLine(text)}" is not a time`, {
    hint: isBareMonths(text)
      ? 'm means minutes. For months write mo: 3mo.'
      : 'Write 14d, 8w, 3mo, 1y, or a day: 2026-12-31.',
  })
}
