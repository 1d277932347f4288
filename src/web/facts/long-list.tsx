import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { toCount } from '#render'

interface Props<T> {
  readonly items: readonly T[]
  readonly render: (item: T, at: number) => VNode
  readonly few?: number
  readonly class?: string
  readonly label: string
}

/** How many are shown after another press. A list of thousands never comes at once. */
const STEP = 200

/** The first few of a list, and a button for more. */
export function LongList<T>({ items, render, few = 8, label, class: name = '' }: Props<T>): VNode {
  const [shown, setShown] = useState(few)
  const rest = items.length - shown
  return (
    <>
      <ol class={`fact-list ${name}`} aria-label={label}>
        {items.slice(0, shown).map((item, at) => (
          <li key={at}>{render(item, at)}</li>
        ))}
      </ol>
      {rest > 0 && (
        <button type="button" class="button quiet" onClick={() => setShown(shown + STEP)}>
          Show {toCount(Math.min(rest, STEP))} more
        </button>
      )}
      {rest <= 0 && items.length > few && (
        <button type="button" class="button quiet" onClick={() => setShown(few)}>
          Show fewer
        </button>
      )}
    </>
  )
}
