const DAY = 86_400_000
const QUARTER = 900_000

/** Days of a time zone, named `yyyy-mm-dd`. */
export interface Calendar {
  /** The day that a moment falls on. */
  dayOf(at: number): string
  /** When a day begins, in milliseconds. */
  startOf(day: string): number
}

/** The days of a time zone; `undefined` when nobody knows a zone of that name. */
export function findCalendar(timeZone: string): Calendar | undefined {
  const offsetAt = findOffsets(timeZone)
  if (offsetAt === undefined) return undefined
  const names = new Map<number, string>()
  const dayOf = (at: number): string => {
    const count = Math.floor((at + offsetAt(at)) / DAY)
    let name = names.get(count)
    if (name === undefined) {
      name = nameOf(count * DAY)
      names.set(count, name)
    }
    return name
  }
  return {
    dayOf,
    startOf(day) {
      const midnight = Date.parse(`${day}T00:00:00.000Z`)
      const near = midnight - offsetAt(midnight)
      const start = midnight - offsetAt(near)
      // Where midnight is skipped the day begins an hour later than the clock would say.
      return dayOf(start) === day ? start : near
    },
  }
}

/** Reads `yyyy-mm-dd` of a day that exists; `undefined` for anything else. */
export function findDay(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const at = Date.parse(`${text}T00:00:00.000Z`)
  return Number.isNaN(at) || nameOf(at) !== text ? undefined : text
}

/** The day that many days after another one. */
export function dayAfter(day: string, days: number): string {
  return nameOf(Date.parse(`${day}T00:00:00.000Z`) + days * DAY)
}

function nameOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** How far a zone's clock is ahead at a moment. A day whose two ends agree is asked for twice, whatever falls on it. */
function findOffsets(timeZone: string): ((at: number) => number) | undefined {
  if (timeZone === 'UTC') return () => 0
  const format = findFormat(timeZone)
  if (format === undefined) return undefined
  const quarters = new Map<number, number>()
  /** For a day on which the clock changes: not a number. */
  const days = new Map<number, number>()
  const atQuarter = (quarter: number): number => {
    let offset = quarters.get(quarter)
    if (offset === undefined) {
      offset = readOffset(format, quarter * QUARTER)
      quarters.set(quarter, offset)
    }
    return offset
  }
  return (at) => {
    const day = Math.floor(at / DAY)
    let offset = days.get(day)
    if (offset === undefined) {
      const first = atQuarter((day * DAY) / QUARTER)
      offset = first === atQuarter(((day + 1) * DAY) / QUARTER) ? first : Number.NaN
      days.set(day, offset)
    }
    return Number.isNaN(offset) ? atQuarter(Math.floor(at / QUARTER)) : offset
  }
}

function findFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}

function readOffset(format: Intl.DateTimeFormat, at: number): number {
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
  const clock = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return clock - at
}
