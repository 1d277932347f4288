import { Absent } from './measure.ts'
import type { Figures, Outcome, Racer } from './measure.ts'
import { Pending } from './pending.ts'
import { ms, times } from './table.ts'
import type { Row } from './table.ts'

/** How a figure of ours is held against another's. */
interface Comparison {
  readonly name: string
  readonly ours: Racer
  /** What the other is called in the table. */
  readonly whom: string
  readonly other: Racer
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
  const gone = [ours, other].flatMap(absence)
  if (ours.state === 'pending' || gone.length > 0) {
    const mine = ours.state === 'measured' ? show(of(ours.figures)) : 'n/a'
    const why = gone.length > 0 ? { note: gone.join('; ') } : extra
    return { name, ours: mine, against, ratio: '', target: wanted, met: 'n/a', ...why }
  }
  if (ours.state !== 'measured' || other.state !== 'measured') {
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

function absence(outcome: Outcome): readonly string[] {
  return outcome.state === 'absent' ? [outcome.message] : []
}

/** How a figure of ours is held against a fixed bound. */
interface Holding {
  readonly name: string
  readonly value: number
  readonly show: (value: number) => string
  readonly most?: number
  readonly least?: number
  /** What stands beside it for comparison. */
  readonly against?: string
  readonly ratio?: string
  readonly fault?: string | undefined
  readonly note?: string | undefined
}

export function hold(holding: Holding): Row {
  const { name, value, show, most, least, fault, note } = holding
  const target = most !== undefined ? `<= ${show(most)}` : least !== undefined ? `>= ${show(least)}` : ''
  const isKept = (most === undefined || value <= most) && (least === undefined || value >= least)
  const said = fault ?? note
  return {
    name,
    ours: show(value),
    against: holding.against ?? '',
    ratio: holding.ratio ?? '',
    target,
    met: fault !== undefined ? 'NO' : target === '' ? 'info' : isKept ? 'yes' : 'NO',
    ...(said === undefined ? {} : { note: said }),
  }
}

/** A row that could not be had, and why. Only what is nobody's fault is forgiven. */
export function missing(name: string, why: unknown): Row {
  const note = why instanceof Error ? why.message : String(why)
  const isForgiven = why instanceof Absent || why instanceof Pending
  return { name, ours: 'n/a', against: '', ratio: '', target: '', met: isForgiven ? 'n/a' : 'NO', note }
}

function isMet(target: Target, mine: number, theirs: number): boolean {
  return 'atLeast' in target ? theirs / mine >= target.atLeast : mine / theirs <= target.atMost
}

function sayTarget(target: Target): string {
  return 'atLeast' in target ? `>= ${target.atLeast}x` : `<= ${target.atMost}x`
}
