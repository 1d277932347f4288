import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { toCount, toPlural } from '#render'
import type { UsageReport } from '#wire'
import { useAnswer } from '../answer.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { fillDays, moveDay, toDay, toDayWords, toRange, type Period } from './days.ts'
import { HeatMap } from './heat-map.tsx'
import { PeriodPicker } from './period-picker.tsx'
import { Charts, type Measure, type Reports } from './usage-charts.tsx'
import { Totals } from './usage-totals.tsx'
import '../style/parts.css'
import './usage.css'

/** What was used and what it cost: totals, days, models, folders, sessions, and a year of activity. */
export function UsageView(): VNode {
  const { health, now, throughline } = useShared()
  const today = toDay(now.value)
  const [period, setPeriod] = useState<Period>({ kind: 'last', days: 30 })
  const [chosen, setChosen] = useState<Measure | undefined>(undefined)
  const { since, until } = toRange(period, today)
  const [machines, setMachines] = useState<'this' | 'mine'>('this')
  const round = health.value?.index.state === 'building' ? 'building' : 'built'
  const timeZone = useMemo(() => Intl.DateTimeFormat().resolvedOptions().timeZone, [])

  const { answer, again } = useAnswer(async (): Promise<Reports> => {
    const common = {
      timeZone,
      ...(machines === 'mine' ? { machines } : {}),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    }
    const [day, model, workdir, session] = await Promise.all([
      throughline.usage({ ...common, by: 'day' }),
      throughline.usage({ ...common, by: 'model' }),
      throughline.usage({ ...common, by: 'workdir' }),
      throughline.usage({ ...common, by: 'session' }),
    ])
    return { day, model, workdir, session, days: fillDays(day.rows, common, today) }
  }, [since, until, today, round, machines])
  const year = useAnswer(async () => {
    const range = { since: moveDay(today, -370), until: today }
    return fillDays((await throughline.usage({ ...range, timeZone, by: 'day' })).rows, range, today)
  }, [today, round])

  return (
    <div class="view usage-view">
      <header class="usage-head">
        <h1>Usage</h1>
        {health.value?.team !== undefined && (
          <label class="usage-machines small">
            <input
              type="checkbox"
              checked={machines === 'mine'}
              onChange={(event) => setMachines(event.currentTarget.checked ? 'mine' : 'this')}
            />
            All my machines
          </label>
        )}
        <PeriodPicker period={period} today={today} onChange={setPeriod} />
      </header>
      {answer.kind === 'waiting' && <Waiting />}
      {answer.kind === 'failed' && <TroubleNote trouble={answer.trouble} again={again} />}
      {answer.kind === 'there' && (
        <div class={answer.isOld ? 'usage-body old' : 'usage-body'} aria-busy={answer.isOld}>
          <Remarks report={answer.value.day} />
          {answer.value.day.total.messages === 0 ? (
            <p class="hush">No model answered in this time. A longer one may have something to show.</p>
          ) : (
            <>
              <Totals report={answer.value.day} />
              <Charts
                reports={answer.value}
                // Where no model has a price there is nothing to see in dollars.
                measure={chosen ?? (answer.value.day.total.cost > 0 ? 'cost' : 'tokens')}
                onMeasure={setChosen}
              />
            </>
          )}
        </div>
      )}
      {year.answer.kind === 'there' && (
        <section class="usage-year">
          <h2>A year of activity</h2>
          <HeatMap days={year.answer.value} />
          <details>
            <summary>Busiest days as a table</summary>
            <BusyDays days={year.answer.value} />
          </details>
        </section>
      )}
      {answer.kind === 'there' && <Prices report={answer.value.day} timeZone={timeZone} />}
    </div>
  )
}

function Remarks({ report }: { report: UsageReport }): VNode | null {
  if (report.complete && report.unpriced.length === 0 && report.ofSamples !== true) return null
  return (
    <div class="usage-remarks">
      {report.ofSamples === true && (
        <p class="hush">Sample sessions only: there are no other sessions yet.</p>
      )}
      {!report.complete && (
        <p class="hush" role="status">
          The index is still being built. These figures lack what is not in it yet.
        </p>
      )}
      {report.unpriced.length > 0 && (
        <p class="hush">
          No price is known for {report.unpriced.join(', ')}:{' '}
          {toPlural(report.total.unpricedMessages, 'message')} of {toCount(report.total.messages)} are counted
          in tokens, not in dollars.
        </p>
      )}
    </div>
  )
}

function Prices({ report, timeZone }: { report: UsageReport; timeZone: string }): VNode {
  return (
    <p class="faint small usage-prices">
      Costs are what the tokens come to at list prices ({report.prices.source}, of {report.prices.dated}),
      whatever is paid for a subscription. Days are those of {timeZone.replaceAll('_', ' ')}.
    </p>
  )
}

function BusyDays({ days }: { days: readonly { readonly key: string; readonly messages: number }[] }): VNode {
  const busiest = days.filter(({ messages }) => messages > 0).toSorted((a, b) => b.messages - a.messages)
  return (
    <div class="usage-table" role="region" aria-label="Busiest days" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Messages</th>
          </tr>
        </thead>
        <tbody>
          {busiest.slice(0, 100).map(({ key, messages }) => (
            <tr key={key}>
              <th scope="row">{toDayWords(key)}</th>
              <td>{toCount(messages)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Waiting(): VNode {
  return (
    <div class="usage-waiting" role="status" aria-label="Adding up">
      <div class="ghost" />
      <div class="ghost tall" />
      <div class="ghost" />
    </div>
  )
}
