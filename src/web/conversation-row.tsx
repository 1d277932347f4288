import type { VNode } from 'preact'
import { toTokens, toTokenWords } from '#render'
import { toDayName, toMoment } from './age.ts'
import { ContextGauge } from './context-gauge.tsx'
import { lazyView } from './lazy-view.tsx'
import type { LivePart } from './live-part.ts'
import { PassageView, type PassageContext } from './message/passage-view.tsx'
import type { ConversationItem, TurnEnd } from './passage-list.ts'
import { useShared } from './shared.ts'

const BranchSwitch = lazyView(async () => (await import('./branch-switch.tsx')).BranchSwitch, 'part')
const CopiedLine = lazyView(async () => (await import('./copied-line.tsx')).CopiedLine, 'part')

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
      return <BranchSwitch branches={item.branches} chosen={props.chosen} onChoose={props.onChoose} />
    case 'copied':
      return <CopiedLine from={item.from} />
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
      <span>{toTokenWords(toTokens(usage))}</span>
      {toolCalls === 0 ? undefined : <span>{toolCalls === 1 ? '1 call' : `${toolCalls} calls`}</span>}
      {ms === undefined || ms < 1000 ? undefined : <span>{toDuration(ms)}</span>}
      <ContextGauge tokens={turn.contextTokens} />
    </p>
  )
}

function toDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
}
