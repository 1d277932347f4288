import type { ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import type { SessionSummary } from '#model'
import { toPlural, toSize, toTokenWords } from '#render'
import type { Digest, OutlinePoint } from '#wire'
import { toAge, toMoment } from './age.ts'
import { toCompactionSize } from './compaction-size.ts'
import { Icon } from './icon.tsx'
import { toHash, type Route } from './route.ts'
import { useShared } from './shared.ts'
import { VirtualList } from './virtual-list.tsx'
import './style/outline.css'

const ROW_PX = 46

/** The prompts of a session, its compactions and its damage: the way through a long one. */
export function Outline(props: {
  session: SessionSummary
  digest: Digest | undefined
  place: Extract<Route, { kind: 'session' }>
  /** Where in its file stands what is read. */
  reading: ReadonlySignal<number | undefined>
  onClose: () => void
}): VNode {
  const { session, digest, place } = props
  const points = digest?.outline ?? []
  const current = findCurrent(points, place.entry, props.reading.value)
  return (
    <aside class="outline" aria-label="Outline">
      <header>
        <h2>Outline</h2>
        <DateJump session={session} points={points} />
        <button
          type="button"
          class="icon-button small"
          aria-label="Close the outline"
          onClick={props.onClose}
        >
          <Icon name="cross" />
        </button>
      </header>
      {digest === undefined ? (
        <p class="outline-empty" role="status">
          Reading {toSize(session.size)}…
        </p>
      ) : points.length === 0 ? (
        <p class="outline-empty">No prompts in this session.</p>
      ) : (
        <VirtualList
          label="Prompts, compactions and damage"
          items={points}
          keyOf={(point) => `${point.kind} ${point.offset}`}
          heightOf={() => ROW_PX}
          shown={current}
          render={(point, index) => (
            <Point point={point} session={session} isCurrent={index === current} index={index} />
          )}
        />
      )}
    </aside>
  )
}

/** Which point what is read belongs to: the last one before it. Until something is read, where one wanted to go. */
function findCurrent(
  points: readonly OutlinePoint[],
  wanted: string | undefined,
  reading: number | undefined,
): number {
  if (reading === undefined)
    return points.findIndex((point) => point.kind !== 'damage' && point.id === wanted)
  return points.findLastIndex((point) => point.offset <= reading)
}

function Point(props: {
  point: OutlinePoint
  session: SessionSummary
  isCurrent: boolean
  index: number
}): VNode {
  const { point, session, isCurrent } = props
  const { now } = useShared()
  if (point.kind === 'damage') {
    return (
      <span class="outline-point at-damage">
        <span class="ellipsis">
          <Icon name="warning" /> damage: {point.reason}
        </span>
        <span class="outline-facts">{toSize(point.length)} could not be read</span>
      </span>
    )
  }
  const words =
    point.kind === 'compaction'
      ? ['compacted', toCompactionSize(point)].filter(Boolean).join(' · ')
      : point.text
  const offPath = point.kind === 'prompt' && point.offPath === true
  return (
    <a
      class={`outline-point at-${point.kind} ${offPath ? 'off-path' : ''}`}
      href={toHash({ kind: 'session', id: session.id, entry: point.id })}
      aria-current={isCurrent ? 'location' : undefined}
    >
      <span class="ellipsis">{words}</span>
      <span class="outline-facts">
        <time dateTime={point.at} title={toMoment(point.at)}>
          {toAge(point.at, now.value)}
        </time>
        {point.kind === 'prompt' && point.tokens > 0 ? <span>{toTokenWords(point.tokens)}</span> : undefined}
        {point.kind === 'prompt' && point.toolCalls > 0 ? (
          <span>{toPlural(point.toolCalls, 'call')}</span>
        ) : undefined}
        {offPath ? <span>set aside</span> : undefined}
      </span>
    </a>
  )
}

/** Goes to the first prompt of a day. */
function DateJump({ session, points }: { session: SessionSummary; points: readonly OutlinePoint[] }): VNode {
  const { go, say } = useShared()
  const field = useRef<HTMLInputElement>(null)
  function jump(): void {
    const day = field.current?.value ?? ''
    const from = Date.parse(`${day}T00:00`)
    if (Number.isNaN(from)) return
    const next = points.find((point) => point.kind === 'prompt' && Date.parse(point.at ?? '') >= from)
    if (next === undefined || next.kind !== 'prompt') say('Nothing was said on that day or after it.')
    else go({ kind: 'session', id: session.id, entry: next.id })
  }
  return (
    <input
      ref={field}
      type="date"
      aria-label="Jump to a date"
      title="Jump to a date"
      min={session.createdAt?.slice(0, 10)}
      max={session.lastActivityAt?.slice(0, 10)}
      onChange={jump}
    />
  )
}
