import type { VNode } from 'preact'
import { toPlural, toShortCount } from '#render'
import type { OutlinePoint } from '#wire'

const WIDTH = 600
const HEIGHT = 72

interface Point {
  readonly kind: 'turn' | 'compaction'
  readonly tokens: number
}

/** How full the model's window was, turn by turn, and where compactions emptied it. */
export function ContextLine({ outline }: { outline: readonly OutlinePoint[] }): VNode | null {
  const points: readonly Point[] = outline.flatMap(toPoint)
  const turns = points.filter(({ kind }) => kind === 'turn')
  if (turns.length < 3) return null
  const most = Math.max(...turns.map(({ tokens }) => tokens))
  const step = WIDTH / Math.max(1, points.length - 1)
  const line = points
    .map((point, at) => ({ ...point, x: at * step }))
    .filter(({ kind }) => kind === 'turn')
    .map(({ x, tokens }) => `${x.toFixed(1)},${(HEIGHT - 2 - (tokens / most) * (HEIGHT - 8)).toFixed(1)}`)
  const compactions = points.filter(({ kind }) => kind === 'compaction').length
  const words = `The window over ${toPlural(turns.length, 'turn')}: at most ${toShortCount(most)} tokens, ${toPlural(compactions, 'compaction')}`
  return (
    <figure class="context-line">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
        {points.map(({ kind }, at) =>
          kind === 'compaction' ? (
            <line key={at} class="compaction" x1={at * step} x2={at * step} y1={0} y2={HEIGHT} />
          ) : null,
        )}
        <polyline points={line.join(' ')} />
      </svg>
      <figcaption class="faint small">{words}.</figcaption>
    </figure>
  )
}

function toPoint(point: OutlinePoint): readonly Point[] {
  if (point.kind === 'compaction') return [{ kind: 'compaction', tokens: 0 }]
  if (point.kind === 'damage' || point.offPath === true || point.contextTokens === undefined) return []
  return [{ kind: 'turn', tokens: point.contextTokens }]
}
