import type { VNode } from 'preact'
import { moveDay, type Period } from './days.ts'

interface Props {
  readonly period: Period
  readonly today: string
  readonly onChange: (period: Period) => void
}

const LENGTHS: readonly number[] = [7, 30, 90]

/** Which days are looked at. */
export function PeriodPicker({ period, today, onChange }: Props): VNode {
  return (
    <div class="period">
      <div class="choice" role="group" aria-label="Period">
        {LENGTHS.map((days) => (
          <button
            key={days}
            type="button"
            aria-pressed={period.kind === 'last' && period.days === days}
            onClick={() => onChange({ kind: 'last', days })}
          >
            {days} days
          </button>
        ))}
        <button type="button" aria-pressed={period.kind === 'all'} onClick={() => onChange({ kind: 'all' })}>
          All
        </button>
        <button
          type="button"
          aria-pressed={period.kind === 'between'}
          onClick={() => onChange({ kind: 'between', since: moveDay(today, -29), until: today })}
        >
          Days…
        </button>
      </div>
      {period.kind === 'between' && (
        <div class="period-days">
          <label>
            From
            <input
              type="date"
              value={period.since}
              max={period.until}
              onChange={(event) => onChange({ ...period, since: event.currentTarget.value })}
            />
          </label>
          <label>
            to
            <input
              type="date"
              value={period.until}
              min={period.since}
              onChange={(event) => onChange({ ...period, until: event.currentTarget.value })}
            />
          </label>
        </div>
      )}
    </div>
  )
}
