import { ThroughlineError } from '#base'
import { safeLine } from '#render'

const DAYS: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 }
const DAY_MS = 86_400_000

/** A time to come: so long from now, or a day. */
export function toMoment(text: string, now: number): string {
  const [, count = '', unit = ''] = /^(\d{1,5})([dwmy])$/.exec(text) ?? []
  const days = Number(count) * (DAYS[unit] ?? 0)
  const time = days > 0 ? now + days * DAY_MS : Date.parse(text)
  if (!Number.isNaN(time)) return new Date(time).toISOString()
  throw new ThroughlineError('bad-usage', `"${safeLine(text)}" is no time`, {
    hint: 'Write 14d, 8w, 1y, or a day: 2026-12-31.',
  })
}
