import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { toCount } from '#render'

/** A name and how much it has. */
export interface Bar {
  readonly key: string
  readonly name: string
  readonly title?: string
  readonly href?: string
  readonly value: number
  readonly figure: string
  readonly note?: string
}

const FEW = 6

/** Bars beside each other, longest first. The length says again what the figure says. */
export function BarList({ bars, label }: { bars: readonly Bar[]; label: string }): VNode {
  const [isOpen, setOpen] = useState(false)
  const longest = Math.max(...bars.map(({ value }) => value), 0)
  const shown = isOpen ? bars : bars.slice(0, FEW)
  return (
    <>
      <ol class="bars" aria-label={label}>
        {shown.map((bar) => (
          <li key={bar.key}>
            <span class="bar-name cut" title={bar.title}>
              {bar.href === undefined ? bar.name : <a href={bar.href}>{bar.name}</a>}
            </span>
            <span class="bar-figure">
              {bar.note !== undefined && <span class="faint">{bar.note}</span>} <b>{bar.figure}</b>
            </span>
            <span class="bar-track">
              <span style={{ width: `${longest > 0 ? Math.max(0.5, (bar.value / longest) * 100) : 0}%` }} />
            </span>
          </li>
        ))}
      </ol>
      {bars.length > FEW && (
        <button type="button" class="button quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show fewer' : `Show ${toCount(bars.length - FEW)} more`}
        </button>
      )}
    </>
  )
}
