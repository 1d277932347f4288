import { useMemo } from 'preact/hooks'
import type { VNode } from 'preact'
import type { ToolCall } from '#model'
import { findPlan, safeLine, toToolLine } from '#render'
import { Icon } from '../icon.tsx'
import { lazyView } from '../lazy-view.tsx'
import { Fold, useOpen } from './fold.tsx'
import { hasMark, toMarked } from './marks.tsx'
import type { PassageContext } from './passage-context.ts'
import { describeCalls, findStarted, textOfCall, toToolIcon } from './reply-parts.ts'

/** What a call was given and what came of it is folded, and fetched with the first that is opened. */
const CallBody = lazyView(async () => (await import('./call-body.tsx')).CallBody)

const Subagent = lazyView(async () => (await import('./subagent-fold.tsx')).Subagent, 'part')
const ChangedCall = lazyView(async () => (await import('./changed-call.tsx')).ChangedCall, 'part')

/** More calls than this, one after another, are told as one line. */
const FEW = 3

/** Calls that followed each other. What failed is never behind the number of them. */
export function ToolCalls({
  calls,
  context,
}: {
  calls: readonly ToolCall[]
  context: PassageContext
}): VNode {
  const [open, setOpen] = useOpen(calls[0] === undefined ? calls : calls[0].use)
  if (calls.length <= FEW) return <CallList calls={calls} context={context} />
  const loud = calls.filter(
    (call) =>
      call.state !== 'done' ||
      findStarted(context.session, call) !== undefined ||
      findPlan(call) !== undefined,
  )
  const { count, tools } = describeCalls(calls)
  return (
    <div class="calls">
      <details class="fold fold-calls" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="fold-sign">
            <Icon name="chevron" />
          </span>
          <span class="call-tool">{count}</span>
          <span class="call-detail">{safeLine(tools)}</span>
        </summary>
        {open ? <CallList calls={calls} context={context} /> : null}
      </details>
      {open || loud.length === 0 ? null : <CallList calls={loud} context={context} />}
    </div>
  )
}

function CallList({ calls, context }: { calls: readonly ToolCall[]; context: PassageContext }): VNode {
  return (
    <div class="calls">
      {calls.map((call) => (
        <Call key={call.use.id} call={call} context={context} />
      ))}
    </div>
  )
}

function Call({ call, context }: { call: ToolCall; context: PassageContext }): VNode {
  const { tool, detail, before, outcome } = useMemo(
    () => toToolLine(call, { workdir: context.cwd }),
    [call, context.cwd],
  )
  const { marks } = context
  const pace = call.state === 'pending' ? (context.pace?.value ?? '') : ''
  const isInside = marks.length > 0 && hasMark(textOfCall(call), marks) && !hasMark(detail, marks)
  const started = findStarted(context.session, call)
  const fold = (
    <Fold
      of={call.use}
      call={call.use.id}
      isOpen={findPlan(call) !== undefined}
      class={`call call-${pace === '' ? call.state : 'running'}`}
      summary={
        <>
          <span class="call-icon">
            <Icon name={toToolIcon(call.use.name)} />
          </span>
          <span class="call-tool">{toMarked(tool, marks)}</span>
          <span class="call-detail">{toMarked(detail, marks)}</span>
          {isInside ? <mark class="call-match">match inside</mark> : null}
          {outcome === '' ? null : (
            <span class="call-outcome">{pace === '' ? toMarked(outcome, marks) : pace}</span>
          )}
        </>
      }
    >
      {() => (
        <>
          {started === undefined ? null : <Subagent started={started} context={context} />}
          <CallBody call={call} started={started !== undefined} context={context} />
        </>
      )}
    </Fold>
  )
  if (before === undefined) return fold
  return (
    <div class="call-changed">
      {fold}
      <ChangedCall by={call.use.changed?.by} before={before} after={detail} marks={marks} />
    </div>
  )
}
