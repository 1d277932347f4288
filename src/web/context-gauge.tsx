import type { VNode } from 'preact'
import { toCount, toShortCount } from '#render'

/** The window that models have unless they were asked for a larger one. */
const USUAL = 200_000
const LARGE = 1_000_000

/** How full the model's window was. Which window it had is not written down: one that held more was the large one. */
export function ContextGauge({ tokens }: { tokens: number | undefined }): VNode | null {
  if (tokens === undefined || tokens <= 0) return null
  const window = tokens > USUAL ? LARGE : USUAL
  const share = Math.min(1, tokens / window)
  const percent = Math.round(share * 100)
  return (
    <span
      class={`gauge ${share > 0.8 ? 'high' : ''}`}
      title={`${toCount(tokens)} tokens in the window of the model, of ${toShortCount(window)}`}
    >
      <meter min={0} max={window} value={tokens} aria-label="How full the model's window was">
        {percent} %
      </meter>
      <span>{percent} %</span>
    </span>
  )
}
