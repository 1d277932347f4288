import type { Throughline } from '#app'
import type { UsageReport, UsageRequest, UsageRow, UsageTotals } from '#wire'
import { ThroughlineError } from '#base'
import { safeLine, toCount, toPlural, toShortCount, toTokens } from '#render'
import { resolve } from 'node:path'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { findSpan, isBareMonths } from './span.ts'
import { toShortId, toShortPath } from './short.ts'
import { toTable, type Cell, type Column } from './table.ts'

/** `throughline usage` */
export async function usage(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const report = await throughline.usage({
    ...toRequest(values, console.now),
    onProgress: (done, total) => console.progress(done, total, 'sessions read'),
  })
  if (values.flag('json')) {
    await console.out.write(toJsonLine(report))
    return 0
  }
  if (report.rows.length === 0) {
    console.say('Nothing was used.')
    console.say('next: try another span of days, or see what there is with `throughline ls`.')
    return 0
  }
  await console.out.write(toReport(report, console))
  if (values.flag('all-machines') && report.machines !== 'mine')
    console.say(
      'note: the database of the team does not answer, or there is none; this machine alone was counted.',
    )
  return 0
}

function toRequest(values: Values, now: number): UsageRequest {
  const timeZone = values.flag('utc') ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
  const by = (['day', 'model', 'workdir', 'session'] as const).find((known) => known === values.value('by'))
  const since = dayOf(values, 'since', { timeZone, now })
  const until = dayOf(values, 'until', { timeZone, now })
  const workdir = values.value('workdir')
  return {
    by: by ?? 'day',
    timeZone,
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(workdir === undefined ? {} : { workdir: resolve(workdir) }),
    ...(values.flag('all-machines') ? { machines: 'mine' } : {}),
  }
}

/** A day, or how long ago it was where the days are counted. */
function dayOf(
  values: Values,
  name: string,
  { timeZone, now }: { readonly timeZone: string; readonly now: number },
): string | undefined {
  const day = values.value(name)
  const span = day === undefined ? undefined : findSpan(day)
  if (span !== undefined) return new Intl.DateTimeFormat('en-CA', { timeZone }).format(now - span)
  if (day === undefined || (/^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day)))) return day
  throw new ThroughlineError('bad-usage', `--${name} takes a day or an age, not "${safeLine(day)}"`, {
    hint: isBareMonths(day)
      ? `For months write mo: --${name} ${day.slice(0, -1).trim()}mo`
      : `Write it like this: --${name} 2026-01-31, or --${name} 7d`,
  })
}

const FIGURES: readonly Column[] = [
  { title: 'in', align: 'right' },
  { title: 'out', align: 'right' },
  { title: 'cache read', align: 'right' },
  { title: 'cache write', align: 'right' },
  { title: 'tokens', align: 'right' },
  { title: 'messages', align: 'right' },
  { title: 'cost', align: 'right' },
]

/** In a narrow terminal only what matters most. */
const NARROW = 84

function toReport(report: UsageReport, console: Console): string {
  const { width, paint } = console
  const isNarrow = width < NARROW
  const kept = FIGURES.map((_, at) => !isNarrow || at >= 4)
  const columns: Column[] = [{ title: report.by, share: 1 }, ...FIGURES.filter((_, at) => kept[at])]
  const toRow = (key: Cell, totals: UsageTotals): readonly Cell[] => [
    key,
    ...toFigures(totals).filter((_, at) => kept[at]),
  ]
  const rows = report.rows.map((row) => toRow(toKey(row, report.by, console), row))
  const total = toRow({ text: 'total', style: 'strong' }, report.total)
  const table = toTable(columns, [...rows, total], { width, paint })
  return `${table}\n${toFooter(report)
    .map((line) => `${paint('dim', line)}\n`)
    .join('')}`
}

function toKey({ key, name }: UsageRow, by: UsageReport['by'], console: Console): Cell {
  if (key === '') return { text: '(not said)', style: 'dim' }
  if (by === 'workdir') return { text: toShortPath(key, console.home) }
  if (by !== 'session') return { text: safeLine(key) }
  const title = safeLine((name ?? '').slice(0, 200))
  return { text: `${toShortId(key)}  ${title}` }
}

function toFigures({ usage: used, messages, cost, unpricedMessages }: UsageTotals): readonly Cell[] {
  const tokens = [used.input, used.output, used.cacheRead, used.cacheCreation, toTokens(used)]
  return [
    ...tokens.map((count): Cell => ({ text: toShortCount(count) })),
    { text: toCount(messages) },
    // A sum that lacks something says so.
    unpricedMessages === messages
      ? { text: '–', style: 'dim' }
      : { text: `${unpricedMessages > 0 ? '≥ ' : ''}$${cost.toFixed(2)}` },
  ]
}

function toFooter({
  prices,
  unpriced,
  total,
  complete,
  ofSamples,
  compactions,
}: UsageReport): readonly string[] {
  const lines = [`Prices: ${safeLine(prices.source)}, of ${safeLine(prices.dated)}. What you pay may differ.`]
  if (unpriced.length > 0) {
    const models = unpriced.map((model) => safeLine(model)).join(', ')
    lines.push(`Without a known price, ${toPlural(total.unpricedMessages, 'message')}: ${models}`)
  }
  if (compactions.unbilled > 0)
    lines.push(
      `Not billed: the requests of ${toPlural(compactions.unbilled, 'compaction')}. Their transcripts do not state what they cost.`,
    )
  if (ofSamples === true) lines.push('Sample sessions only: there are no other sessions yet.')
  if (!complete)
    lines.push('The index is being built: sessions are missing. `throughline status` says how far it is.')
  return lines
}
