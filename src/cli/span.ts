import { ThroughlineError } from '#base'
import { safeLine } from '#render'

const DAY_MS = 86_400_000

/** The letters in which ages are printed, and weeks. */
const UNITS: Readonly<Record<string, number>> = {
  h: DAY_MS / 24,
  d: DAY_MS,
  w: 7 * DAY_MS,
  mo: 30 * DAY_MS,
  y: 365 * DAY_MS,
}

/** How long `90d` is. `undefined` when the text is no number with a unit. */
export function findSpan(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})\s?([a-z]{1,2})$/i.exec(text) ?? []
  const factor = UNITS[unit.toLowerCase()]
  return count === undefined || factor === undefined ? undefined : Number(count) * factor
}

/** The same, or `bad-usage`. An `m` is refused: it is printed for minutes, and was read as months. */
export function toSpan(text: string, option: string): number {
  const span = findSpan(text)
  if (span !== undefined) return span
  throw new ThroughlineError('bad-usage', `--${option} is not an age: "${safeLine(text)}"`, {
    hint: isBareMonths(text)
      ? `m means minutes. For months write mo: --${option} ${text.slice(0, -1).trim()}mo`
      : `Write a number with h, d, w, mo or y: --${option} 90d`,
  })
}

/** `4m`, which could be minutes or months. */
export function isBareMonths(text: string): boolean {
  return /^\d{1,6}\s?m$/i.test(text)
}
