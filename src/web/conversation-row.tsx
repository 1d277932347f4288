import type { VNode } from 'preact'
import { toShortCount, toTokens } from '#render'
import type { BranchPath } from '#wire'
import { toDayName, toMoment } from './age.ts'
import { ContextGauge } from './context-gauge.tsx'
import { Icon } from './icon.tsx'
import type { LivePart } from './live-part.ts'
import { PassageView, type PassageContext } from './message/passage-view.tsx'
import type { ConversationItem, TurnEnd } from './passage-list.ts'
import { useShared } from './shared.ts'

/** One line of the conversation: a passage, what a turn cost, a fork, or a new day. */
export function ConversationRow(props: {
  item: ConversationItem
  context: PassageContext
  chosen: string | undefined
  onChoose: (leafId: string | undefined) => void
  live?: LivePart | undefined
}): VNode {
  const { item, context } = props
  switch (item.kind) {
    case 'passage':
      return (
        <div class="conversation-row" data-key={item.key} data-kind={item.passage.kind} tabIndex={-1}>
          <PassageView passage={item.passage} context={context} />
          {props.live?.renderNote(item.passage)}
        </div>
      )
    case 'turn-end':
      return <TurnCost turn={item.turn} />
    case 'fork':
      return <Fork branches={item.branches} chosen={props.chosen} onChoose={props.onChoose} />
    case 'day':
      return <Day at={item.at} />
  }
}

function Day({ at }: { at: string }): VNode {
  const { now } = useShared()
  return (
    <p class="day-line">
      <time dateTime={at} title={toMoment(at)}>
        {toDayName(at, now.value)}
      </time>
    </p>
  )
}

function TurnCost({ turn }: { turn: TurnEnd }): VNode {
  const { usage, toolCalls, ms } = turn
  return (
    <p class="turn-end" title={`${toTokens(usage)} tokens billed in this turn`}>
      <span>{toShortCount(toTokens(usage))} tokens</span>
      {toolCalls === 0 ? undefined : <span>{toolCalls === 1 ? '1 call' : `${toolCalls} calls`}</span>}
      {ms === undefined || ms < 1000 ? undefined : <span>{toDuration(ms)}</span>}
      <ContextGauge tokens={turn.contextTokens} />
    </p>
  )
}

function toDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

/** Where the person went back and said something else: each way can be looked at. */
function Fork(props: {
  branches: readonly BranchPath[]
  chosen: string | undefined
  onChoose: (leafId: string | undefined) => void
}): VNode {
  const ways = [undefined, ...props.branches.map(({ leafId }) => leafId)]
  const at = Math.max(0, ways.indexOf(props.chosen))
  const branch = props.branches.find(({ leafId }) => leafId === props.chosen)
  const go = (by: number): void => props.onChoose(ways[(at + by + ways.length) % ways.length])
  return (
    <div class="fork" role="group" aria-label="Branches of the conversation">
      <Icon name="branch" />
      <button type="button" class="icon-button small" aria-label="Previous branch" onClick={() => go(-1)}>
        ‹
      </button>
      <span aria-live="polite">
        {at + 1} of {ways.length}:{' '}
        {branch === undefined ? 'the way it went on' : `set aside — ${branch.text}`}
      </span>
      <button type="button" class="icon-button small" aria-label="Next branch" onClick={() => go(1)}>
        ›
      </button>
    </div>
  )
}
