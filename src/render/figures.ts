import type { Damage, DamageReason, Usage } from '#model'

/** `1.2 MB`. */
export function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes
  let unit = ''
  for (unit of ['kB', 'MB', 'GB', 'TB']) {
    value /= 1000
    if (value < 999.5) break
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`
}

/** `12,345`. */
export function toCount(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** `3 prompts`, `1 prompt`. */
export function toPlural(value: number, noun: string): string {
  const many = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${toCount(value)} ${value === 1 ? noun : many}`
}

/** `1.2M tokens`, `1 token`. */
export function toTokenWords(tokens: number): string {
  return `${toShortCount(tokens)} token${tokens === 1 ? '' : 's'}`
}

/** `1.2M`, `45k`, `812`. */
export function toShortCount(value: number): string {
  if (value < 1000) return String(Math.round(value))
  if (value < 999_500) return `${value < 9950 ? (value / 1000).toFixed(1) : Math.round(value / 1000)}k`
  return `${(value / 1_000_000).toFixed(value < 9_950_000 ? 1 : 0)}M`
}

/** All tokens of a usage, whatever their price. */
export function toTokens(usage: Usage): number {
  return usage.input + usage.output + usage.cacheRead + usage.cacheCreation
}

/** `2026-01-12 14:03`, in UTC; the text itself when it is no date. */
export function toDate(at: string): string {
  const time = Date.parse(at)
  return Number.isNaN(time) ? at.slice(0, 40) : new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** `2026-01-12 14:03 – 14:41 UTC`; empty when neither end is known. */
export function toSpan(from: string | undefined, to: string | undefined): string {
  const dates = [from, to].filter((at) => at !== undefined).map(toDate)
  const [first, last] = [dates[0], dates.at(-1)]
  if (first === undefined || last === undefined) return ''
  if (first === last) return `${first} UTC`
  return `${first} – ${first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last} UTC`
}

/** `14:03`, in UTC. */
export function toClock(at: string): string {
  const time = Date.parse(at)
  return Number.isNaN(time) ? '' : new Date(time).toISOString().slice(11, 16)
}

const REASONS: Record<DamageReason, string> = {
  torn: 'a record breaks off in the middle',
  glued: 'a record breaks off and another begins on the same line',
  'nul-run': 'zero bytes, as a power cut leaves them',
  garbage: 'no JSON object',
  'too-deep': 'nested deeper than any client writes',
  'blob-missing': 'a text that it keeps in a file of its own is not there',
  'blob-changed': 'a text that it keeps in a file of its own is another one now',
}

/** `412 bytes at 10,240 could not be read: torn, a record breaks off in the middle`. */
export function toDamageLine(damage: Damage): string {
  const { length, offset, reason } = damage
  // The record is read, and shown; what it refers to is not.
  if (reason === 'blob-missing' || reason === 'blob-changed')
    return `the record at ${toCount(offset)} is not whole: ${reason}, ${REASONS[reason]}`
  return `${toPlural(length, 'byte')} at ${toCount(offset)} could not be read: ${reason}, ${REASONS[reason]}`
}
