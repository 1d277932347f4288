import { NO_USAGE } from '#model'
import type { UsageRow } from '#wire'

/** Which days are looked at. */
export type Period =
  | { readonly kind: 'last'; readonly days: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'between'; readonly since: string; readonly until: string }

const DAY_MS = 86_400_000

/** The day of a moment where the person is, `yyyy-mm-dd`. */
export function toDay(now: number): string {
  const date = new Date(now)
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** Another day, so many days later. Days have no clock, so none can go wrong. */
export function moveDay(day: string, by: number): string {
  const time = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(time) ? day : new Date(time + by * DAY_MS).toISOString().slice(0, 10)
}

/** The first and the last day of a period, as they are asked for. */
export function toRange(period: Period, today: string): { readonly since?: string; readonly until?: string } {
  switch (period.kind) {
    case 'all':
      return {}
    case 'last':
      return { since: moveDay(today, 1 - period.days), until: today }
    case 'between': {
      const { since, until } = period
      return { ...(since === '' ? {} : { since }), ...(until === '' ? {} : { until }) }
    }
  }
}

/** Days beyond this many are not drawn: a wrong clock may have written any year. */
const MOST_DAYS = 3 * 366

/** A row for every day from the first to the last, also for those on which nothing happened. */
export function fillDays(
  rows: readonly UsageRow[],
  range: { readonly since?: string; readonly until?: string },
  today: string,
): readonly UsageRow[] {
  const known = new Map(rows.filter(({ key }) => isDay(key)).map((row) => [row.key, row]))
  const days = [...known.keys()].toSorted()
  const last = range.until ?? [today, days.at(-1) ?? today].toSorted().at(-1) ?? today
  const wanted = range.since ?? days[0] ?? today
  const earliest = moveDay(last, 1 - MOST_DAYS)
  const filled: UsageRow[] = []
  for (let day = wanted < earliest ? earliest : wanted; day <= last; day = moveDay(day, 1)) {
    filled.push(known.get(day) ?? emptyDay(day))
  }
  return filled
}

function emptyDay(key: string): UsageRow {
  return { key, usage: NO_USAGE, messages: 0, cost: 0, uncachedCost: 0, unpricedMessages: 0, models: [] }
}

function isDay(key: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(key) && !Number.isNaN(Date.parse(`${key}T00:00:00Z`))
}

/** Days in columns of a week, Monday first. The first column may begin, the last one end, with nothing. */
export function toWeeks<T extends { readonly key: string }>(
  days: readonly T[],
): readonly (readonly (T | undefined)[])[] {
  const first = days[0]
  if (first === undefined) return []
  const before = Array.from({ length: weekdayOf(first.key) }, () => undefined)
  const cells = [...before, ...days]
  const weeks: (T | undefined)[][] = []
  for (let at = 0; at < cells.length; at += 7) {
    const week = cells.slice(at, at + 7)
    weeks.push([...week, ...Array.from({ length: 7 - week.length }, () => undefined)])
  }
  return weeks
}

/** 0 for a Monday, 6 for a Sunday. */
function weekdayOf(day: string): number {
  return (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7
}

/**
 * How much of a heat a value is, 0 to 4: nothing, then by quarters of the days on which something happened. One
 * enormous day does not make all others look idle.
 */
export function createHeat(values: readonly number[]): (value: number) => number {
  const busy = values.filter((value) => value > 0).toSorted((a, b) => a - b)
  const limits = [0.25, 0.5, 0.75].map((share) => busy[Math.floor(busy.length * share)] ?? 0)
  return (value) => (value <= 0 ? 0 : 1 + limits.filter((limit) => value > limit).length)
}

/** `Mon, 3 Nov 2026`, whatever the zone: a day is a day. */
export function toDayWords(day: string, style: 'short' | 'long' = 'long'): string {
  const time = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(time)) return day
  return new Date(time).toLocaleDateString(undefined, {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'short',
    ...(style === 'long' ? { weekday: 'short', year: 'numeric' } : {}),
  })
}
