import type { Entrant, Figures } from './measure.ts'
import { ms, times } from './table.ts'
import type { Row } from './table.ts'

/** How a figure of ours is held against another's. */
interface Comparison {
  readonly name: string
  readonly ours: Entrant
  /** What the other is called in the table. */
  readonly whom: string
  readonly other: Entrant
  /** What is compared; milliseconds of CPU when left out. */
  readonly measure?: Measure
  readonly target?: Target
  /** Checked before a timing counts: says what is wrong, or nothing. */
  readonly fault?: string | undefined
  readonly note?: string | undefined
}

export interface Measure {
  readonly of: (figures: Figures) => number
  readonly show: (value: number) => string
}

/** `atLeast`: the other takes so many times as much as we do. `atMost`: we take so many times as much, no more. */
export type Target = { readonly atLeast: number } | { readonly atMost: number }

const CPU: Measure = { of: (figures) => figures.cpuMs, show: ms }

export function compare(comparison: Comparison): Row {
  const { name, whom, target, note } = comparison
  const ours = comparison.ours.outcome
  const other = comparison.other.outcome
  const { of, show } = comparison.measure ?? CPU
  const against = `${whom} ${other.state === 'measured' ? show(of(other.figures)) : other.state}`
  const wanted = target === undefined ? '' : sayTarget(target)
  const extra = note === undefined ? {} : { note }
  if (ours.state === 'pending') {
    return { name, ours: 'n/a', against, ratio: '', target: wanted, met: 'n/a', ...extra }
  }
  if (ours.state === 'failed' || other.state !== 'measured') {
    const message = [ours, other]
      .flatMap((side) => (side.state === 'failed' ? [side.message] : []))
      .join('; ')
    return { name, ours: ours.state, against, ratio: '', target: wanted, met: 'NO', note: message }
  }
  const mine = of(ours.figures)
  const theirs = of(other.figures)
  const { fault } = comparison
  return {
    name,
    ours: show(mine),
    against,
    ratio: target !== undefined && 'atMost' in target ? times(mine / theirs) : times(theirs / mine),
    target: wanted,
    met:
      fault !== undefined ? 'NO' : target === undefined ? 'info' : isMet(target, mine, theirs) ? 'yes' : 'NO',
    ...(fault === undefined ? extra : { note: fault }),
  }
}

function isMet(target: Target, mine: number, theirs: number): boolean {
  return 'atLeast' in target ? theirs / mine >= target.atLeast : mine / theirs <= target.atMost
}

function sayTarget(target: Target): string {
  return 'atLeast' in target ? `>= ${target.atLeast}x` : `<= ${target.atMost}x`
}
