import type { VNode } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { toPlural } from '#render'
import type { UsageRow } from '#wire'
import { toHash } from '../route.ts'
import { createHeat, toDayWords, toWeeks } from './days.ts'
import { toMoney } from './figures.ts'

const WEEKDAYS: readonly string[] = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
]

/** A year of days, each a link to what was said on it. Arrow keys move through it; Tab goes past it. */
export function HeatMap({ days }: { days: readonly UsageRow[] }): VNode {
  const weeks = useMemo(() => toWeeks(days), [days])
  const heat = useMemo(() => createHeat(days.map(({ messages }) => messages)), [days])
  const [current, setCurrent] = useState(days.at(-1)?.key)
  const table = useRef<HTMLTableElement>(null)

  // The latest days are those that are looked for.
  useLayoutEffect(() => table.current?.parentElement?.scrollTo({ left: 10_000 }), [days])

  function onKeyDown(event: KeyboardEvent): void {
    const step = STEPS[event.key]
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const at = days.findIndex(({ key }) => key === current)
    const next = days[Math.min(days.length - 1, Math.max(0, at + step))]
    if (next === undefined) return
    setCurrent(next.key)
    table.current?.querySelector<HTMLElement>(`[data-day="${CSS.escape(next.key)}"]`)?.focus()
  }

  const months = toMonths(weeks)
  return (
    <div class="heat-scroll">
      <table class="heat" ref={table} role="grid" aria-label="Messages per day" onKeyDown={onKeyDown}>
        <thead>
          <tr>
            <td />
            {months.map(({ name, span }, at) => (
              <th key={at} scope="colgroup" colSpan={span}>
                {span > 2 ? name : ''}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {WEEKDAYS.map((name, weekday) => (
            <tr key={name}>
              <th scope="row">
                <span class="unseen">{name}</span>
                <span aria-hidden="true">{weekday % 2 === 0 ? name.slice(0, 3) : ''}</span>
              </th>
              {weeks.map((week, at) => {
                const day = week[weekday]
                return day === undefined ? (
                  <td key={at} />
                ) : (
                  <td key={at}>
                    <a
                      href={toHash({ kind: 'search', q: `on:${day.key} ` })}
                      class={`heat-${heat(day.messages)}`}
                      data-day={day.key}
                      tabIndex={day.key === current ? 0 : -1}
                      aria-label={toWords(day)}
                      title={toWords(day)}
                      onFocus={() => setCurrent(day.key)}
                    />
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="heat-key faint" aria-hidden="true">
        less <i class="heat-0" /> <i class="heat-1" /> <i class="heat-2" /> <i class="heat-3" />{' '}
        <i class="heat-4" /> more
      </p>
    </div>
  )
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  ArrowLeft: -7,
  ArrowRight: 7,
  PageUp: -28,
  PageDown: 28,
  Home: -1000,
  End: 1000,
}

function toWords({ key, messages, cost }: UsageRow): string {
  return `${toDayWords(key)}: ${messages === 0 ? 'nothing' : `${toPlural(messages, 'message')}, ${toMoney(cost)}`}`
}

function toMonths(
  weeks: readonly (readonly (UsageRow | undefined)[])[],
): readonly { readonly name: string; readonly span: number }[] {
  const months: { key: string; name: string; span: number }[] = []
  for (const week of weeks) {
    const first = week.find((day) => day !== undefined)
    if (first === undefined) continue
    const key = first.key.slice(0, 7)
    const last = months.at(-1)
    if (last?.key === key) last.span++
    else {
      const name = new Date(`${key}-01T00:00:00Z`).toLocaleDateString(undefined, {
        month: 'short',
        timeZone: 'UTC',
      })
      months.push({ key, name, span: 1 })
    }
  }
  return months
}
