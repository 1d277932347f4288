const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Making one takes a third of a millisecond, and a page has hundreds of times. */
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

/** How long ago, in one word: `now`, `5 min`, `3 h`, `2 d`, then a date. Empty for what is no time. */
export function toAge(at: string | undefined, now: number): string {
  const time = Date.parse(at ?? '')
  if (Number.isNaN(time)) return ''
  const age = now - time
  if (age < MINUTE) return 'now'
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min`
  if (age < DAY) return `${Math.floor(age / HOUR)} h`
  if (age < 7 * DAY) return `${Math.floor(age / DAY)} d`
  const isThisYear = new Date(time).getFullYear() === new Date(now).getFullYear()
  return new Date(time).toLocaleDateString(undefined, {
    month: 'short',
    day: 'numeric',
    ...(isThisYear ? {} : { year: 'numeric' }),
  })
}

/** `Today`, `Yesterday`, a weekday within the last week, then a date; where the person is. */
export function toDayName(at: string | undefined, now: number): string {
  const time = Date.parse(at ?? '')
  if (Number.isNaN(time)) return 'No date'
  const days = Math.round((startOfDay(now) - startOfDay(time)) / DAY)
  if (days <= 0) return 'Today'
  if (days === 1) return 'Yesterday'
  const date = new Date(time)
  if (days < 7) return date.toLocaleDateString(undefined, { weekday: 'long' })
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  return date.toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'long',
    ...(isThisYear ? {} : { year: 'numeric' }),
  })
}

/** The whole time, where the person is, for a tooltip. */
export function toMoment(at: string | undefined): string {
  const time = Date.parse(at ?? '')
  return Number.isNaN(time) ? '' : MOMENT.format(time)
}

/** `14:03`, where the person is. */
export function toClockTime(at: string | undefined): string {
  const time = Date.parse(at ?? '')
  return Number.isNaN(time) ? '' : CLOCK.format(time)
}

function startOfDay(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0)
}
