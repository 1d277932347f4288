/** Stretches of a file, in order, none touching another. `to` is behind the last byte. */
export type Ranges = readonly Range[]

export interface Range {
  readonly from: number
  readonly to: number
}

/** The stretches and one more, put together with those that it touches. */
export function addRange(ranges: Ranges, { from, to }: Range): Ranges {
  if (from >= to) return ranges
  const before = ranges.filter((range) => range.to < from)
  const behind = ranges.filter((range) => range.from > to)
  const touched = ranges.slice(before.length, ranges.length - behind.length)
  const whole = {
    from: Math.min(from, touched[0]?.from ?? from),
    to: Math.max(to, touched.at(-1)?.to ?? to),
  }
  return [...before, whole, ...behind]
}

export function covers(ranges: Ranges, { from, to }: Range): boolean {
  return from >= to || ranges.some((range) => range.from <= from && range.to >= to)
}

/** What is missing of a stretch. */
export function missingOf(ranges: Ranges, { from, to }: Range): Ranges {
  const missing: Range[] = []
  let at = from
  for (const range of ranges) {
    if (range.to <= at) continue
    if (range.from >= to) break
    if (range.from > at) missing.push({ from: at, to: range.from })
    at = range.to
  }
  if (at < to) missing.push({ from: at, to })
  return missing
}

/** The last end of a stretch that is not behind a place: all of them end where a line does. */
export function lastEnd(ranges: Ranges, at: number): number {
  return ranges.findLast((range) => range.to <= at)?.to ?? 0
}

export function bytesIn(ranges: Ranges): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0)
}
