import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { toDayWords } from './days.ts'

/** One kind of what is plotted. Its colour is that of the class `series-<name>`. */
export interface PlotSeries {
  readonly name: string
  readonly words: string
  readonly isShown: boolean
  /** One value for each day. */
  readonly values: readonly number[]
}

interface Props {
  readonly days: readonly string[]
  readonly series: readonly PlotSeries[]
  readonly format: (value: number) => string
  readonly label: string
  /** Shows a kind, or leaves it out. */
  readonly onToggle?: (name: string) => void
}

const HEIGHT = 220

/** Bars, one for each day, one kind on top of the other. The table beside it has the same figures. */
export function DayPlot({ days, series, format, label, onToggle }: Props): VNode {
  const box = useRef<HTMLDivElement>(null)
  const legend = useRef<HTMLUListElement>(null)
  const [at, setAt] = useState<number | undefined>(undefined)
  const [theme, setTheme] = useState(0)

  useEffect(() => watchTheme(() => setTheme((count) => count + 1)), [])
  useEffect(() => {
    const target = box.current
    if (target === null) return undefined
    const colours = [...(legend.current?.querySelectorAll('.shown .swatch') ?? [])].map(
      (swatch) => getComputedStyle(swatch).backgroundColor,
    )
    const { color, borderTopColor } = getComputedStyle(target)
    const plot = new uPlot(
      toOptions({
        width: target.clientWidth,
        days,
        format,
        colours,
        ink: color,
        line: borderTopColor,
        onPoint: setAt,
      }),
      toStack(
        days,
        series.filter(({ isShown }) => isShown),
      ),
      target,
    )
    const observer = new ResizeObserver(() => {
      if (target.clientWidth > 0) plot.setSize({ width: target.clientWidth, height: HEIGHT })
    })
    observer.observe(target)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [days, series, format, theme])

  const day = at === undefined ? undefined : days[at]
  return (
    <figure class="day-plot" aria-label={label}>
      <ul class="plot-legend" ref={legend}>
        <li class="plot-day">{day === undefined ? 'All days' : toDayWords(day)}</li>
        {series.map(({ name, words, values, isShown }) => (
          <li key={name} class={isShown ? 'shown' : ''}>
            <label>
              {onToggle !== undefined && (
                <input type="checkbox" checked={isShown} onChange={() => onToggle(name)} />
              )}
              <span class={`swatch series-${name}`} />
              <span class="soft">{words}</span>{' '}
              <b>{format(at === undefined ? sum(values) : (values[at] ?? 0))}</b>
            </label>
          </li>
        ))}
      </ul>
      <div class="plot-box" ref={box} aria-hidden="true" />
    </figure>
  )
}

/** Each kind with all that are below it. The highest comes first, so that the others are painted over it. */
function toStack(days: readonly string[], series: readonly PlotSeries[]): uPlot.AlignedData {
  const heights = days.map(() => 0)
  const stack = series.map(({ values }) => {
    for (const [at, value] of values.entries()) heights[at] = (heights[at] ?? 0) + value
    return [...heights]
  })
  return [days.map((_day, at) => at), ...stack.toReversed()]
}

interface Look {
  readonly width: number
  readonly days: readonly string[]
  readonly format: (value: number) => string
  readonly colours: readonly string[]
  readonly ink: string
  readonly line: string
  readonly onPoint: (at: number | undefined) => void
}

function toOptions({ width, days, format, colours, ink, line, onPoint }: Look): uPlot.Options {
  const bars = uPlot.paths.bars?.({ size: [0.72, 36], radius: 0.12 })
  const font = '12px system-ui, sans-serif'
  return {
    width: Math.max(100, width),
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => [-0.6, Math.max(0.6, days.length - 0.4)] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        stroke: ink,
        font,
        gap: 6,
        size: 28,
        grid: { show: false },
        ticks: { show: false },
        incrs: [1, 2, 7, 14, 28, 56, 91, 182, 364],
        space: 64,
        values: (_plot, splits) => splits.map((at) => toDayWords(days[at] ?? '', 'short')),
      },
      {
        stroke: ink,
        font,
        gap: 6,
        size: 56,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        values: (_plot, splits) => splits.map((value) => format(value).replace(/\.00$/, '')),
      },
    ],
    series: [
      {},
      ...colours.toReversed().map((colour) => ({
        fill: colour,
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? undefined)] },
  }
}

/** Tells when the colours of the page change. */
function watchTheme(onChange: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const observer = new MutationObserver(onChange)
  dark.addEventListener('change', onChange)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    dark.removeEventListener('change', onChange)
    observer.disconnect()
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
