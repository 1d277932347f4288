import type { ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import './style/place-strip.css'

/**
 * How far into the whole session what is read stands. The scrollbar knows only what is loaded of it. Screen readers get
 * the same from the outline.
 */
export function PlaceStrip(props: {
  reading: ReadonlySignal<number | undefined>
  size: number
}): VNode | null {
  const at = props.reading.value
  if (at === undefined || props.size === 0) return null
  const share = Math.min(1, at / props.size)
  return (
    <div class="place-strip" aria-hidden="true" title={`${Math.round(share * 100)} % of the session`}>
      <span style={{ insetBlockStart: `calc((100% - 2rem) * ${share.toFixed(4)})` }} />
    </div>
  )
}
