import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { toPlural, toTokens } from '#render'
import type { UsageReport, UsageRow } from '#wire'
import { toHash } from '../route.ts'
import { toFolderName } from '../folder-names.ts'
import { BarList, type Bar } from './bar-list.tsx'
import { DayPlot, type PlotSeries } from './day-plot.tsx'
import { toDayWords } from './days.ts'
import { toAmount, toMoney } from './figures.ts'

/** What is measured. */
export type Measure = 'cost' | 'tokens'

/** The same period, looked at from four sides; `days` has every day of it. */
export interface Reports {
  readonly day: UsageReport
  readonly model: UsageReport
  readonly workdir: UsageReport
  readonly session: UsageReport
  readonly days: readonly UsageRow[]
}

type TokenKind = 'output' | 'input' | 'cacheCreation' | 'cacheRead'

const KINDS: readonly { readonly name: TokenKind; readonly words: string }[] = [
  { name: 'output', words: 'Output' },
  { name: 'input', words: 'Input' },
  { name: 'cacheCreation', words: 'Written to cache' },
  { name: 'cacheRead', words: 'Read from cache' },
]

interface Props {
  readonly reports: Reports
  readonly measure: Measure
  readonly onMeasure: (measure: Measure) => void
}

/** Plots and bars, in dollars or in tokens. */
export function Charts({ reports, measure, onMeasure }: Props): VNode {
  const { days } = reports
  const [hidden, setHidden] = useState<readonly string[]>([])
  const names = useMemo(() => days.map(({ key }) => key), [days])
  const series = useMemo(() => toSeries(days, measure, hidden), [days, measure, hidden])
  const format = measure === 'cost' ? toMoney : toAmount
  const toggle = (name: string): void =>
    setHidden(hidden.includes(name) ? hidden.filter((kind) => kind !== name) : [...hidden, name])
  return (
    <>
      <section>
        <div class="usage-bar">
          <h2>By day</h2>
          <div class="choice" role="group" aria-label="Measure">
            {(['cost', 'tokens'] as const).map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={measure === each}
                onClick={() => onMeasure(each)}
              >
                {each === 'cost' ? 'Cost' : 'Tokens'}
              </button>
            ))}
          </div>
        </div>
        <DayPlot
          days={names}
          series={series}
          format={format}
          label={`${measure} per day`}
          {...(measure === 'tokens' ? { onToggle: toggle } : {})}
        />
        <details>
          <summary>As a table</summary>
          <DayTable days={days} />
        </details>
      </section>
      <div class="usage-pair">
        <section>
          <h2>By model</h2>
          <BarList label="By model" bars={toBars(reports.model.rows, measure, toModelBar)} />
        </section>
        <section>
          <h2>By folder</h2>
          <BarList label="By folder" bars={toBars(reports.workdir.rows, measure, toFolderBar)} />
        </section>
      </div>
      <section>
        <h2>{measure === 'cost' ? 'Most expensive sessions' : 'Sessions with most tokens'}</h2>
        <BarList label="Sessions" bars={toBars(reports.session.rows, measure, toSessionBar).slice(0, 50)} />
      </section>
    </>
  )
}

function DayTable({ days }: { days: readonly UsageRow[] }): VNode {
  return (
    <div class="usage-table" role="region" aria-label="Usage by day" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Cost</th>
            {KINDS.map(({ name, words }) => (
              <th key={name} scope="col">
                {words}
              </th>
            ))}
            <th scope="col">Messages</th>
          </tr>
        </thead>
        <tbody>
          {days
            .filter(({ messages }) => messages > 0)
            .toReversed()
            .map((row) => (
              <tr key={row.key}>
                <th scope="row">{toDayWords(row.key)}</th>
                <td>{toMoney(row.cost)}</td>
                {KINDS.map(({ name }) => (
                  <td key={name}>{toAmount(row.usage[name])}</td>
                ))}
                <td>{toAmount(row.messages)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}

function toSeries(
  days: readonly UsageRow[],
  measure: Measure,
  hidden: readonly string[],
): readonly PlotSeries[] {
  if (measure === 'cost') {
    return [{ name: 'cost', words: 'Cost', isShown: true, values: days.map(({ cost }) => cost) }]
  }
  return KINDS.map(({ name, words }) => ({
    name,
    words,
    isShown: !hidden.includes(name),
    values: days.map(({ usage }) => usage[name]),
  }))
}

type Naming = (row: UsageRow) => Pick<Bar, 'name' | 'title' | 'href'>

function toBars(rows: readonly UsageRow[], measure: Measure, naming: Naming): readonly Bar[] {
  return rows
    .map((row): Bar => {
      const tokens = toTokens(row.usage)
      const isPriced = row.unpricedMessages < row.messages
      return {
        key: row.key,
        ...naming(row),
        value: measure === 'cost' ? row.cost : tokens,
        figure: measure === 'tokens' ? toAmount(tokens) : isPriced ? toMoney(row.cost) : 'no price',
        note: measure === 'cost' ? `${toAmount(tokens)} tokens` : toPlural(row.messages, 'message'),
      }
    })
    .toSorted((a, b) => b.value - a.value)
}

function toModelBar({ key }: UsageRow): ReturnType<Naming> {
  return { name: key === '' ? 'Unnamed model' : key }
}

function toFolderBar({ key }: UsageRow): ReturnType<Naming> {
  if (key === '') return { name: 'No folder' }
  return {
    name: toFolderName(key),
    title: key,
    href: toHash({ kind: 'search', q: `workdir:${quoted(key)} ` }),
  }
}

function toSessionBar({ key, name }: UsageRow): ReturnType<Naming> {
  const words = name === undefined || name.trim() === '' ? `Session ${key.slice(0, 8)}` : name
  return { name: words, title: words, href: toHash({ kind: 'session', id: key, show: 'facts' }) }
}

function quoted(path: string): string {
  return /\s/.test(path) ? `"${path}"` : path
}
