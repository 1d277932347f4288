import { useMemo } from 'preact/hooks'
import type { ComponentChildren, VNode } from 'preact'
import type { ToolCall } from '#model'
import { safeLine, toToolLine } from '#render'
import { Icon } from '../icon.tsx'
import { lazyView } from '../lazy-view.tsx'
import { Fold, useOpen } from './fold.tsx'
import { hasMark, toMarked } from './marks.tsx'
import type { PassageContext } from './passage-context.ts'
import { describeCalls, findStarted, textOfCall, toToolIcon, type StartedSubagent } from './reply-parts.ts'

/** What a call was given and what came of it is folded, and fetched with the first that is opened. */
const CallBody = lazyView(async () => (await import('./call-body.tsx')).CallBody)

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
    (call) => call.state !== 'done' || findStarted(context.session, call) !== undefined,
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
  const { tool, detail, outcome } = useMemo(() => toToolLine(call, context.cwd), [call, context.cwd])
  const { marks } = context
  const pace = call.state === 'pending' ? (context.pace?.value ?? '') : ''
  const isInside = marks.length > 0 && hasMark(textOfCall(call), marks) && !hasMark(detail, marks)
  const started = findStarted(context.session, call)
  return (
    <Fold
      of={call.use}
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
}

/** A conversation inside of this one. It is read when it is opened. */
function Subagent({ started, context }: { started: StartedSubagent; context: PassageContext }): VNode {
  const known = context.session.subagents.find(({ id }) => id === started.id)
  return (
    <Fold of={known ?? started} class="subagent" summary={toTitle(started, context.marks)}>
      {() => <div class="subagent-conversation">{context.renderSubagent(started.id)}</div>}
    </Fold>
  )
}

function toTitle({ type, description }: StartedSubagent, marks: readonly string[]): ComponentChildren {
  const name = safeLine(type.slice(0, 200))
  const task = safeLine(description.slice(0, 400))
  return (
    <>
      <span class="call-icon">
        <Icon name="branch" />
      </span>
      <span class="call-tool">{name === '' ? 'Subagent' : toMarked(`Subagent ${name}`, marks)}</span>
      <span class="call-detail">{toMarked(task, marks)}</span>
    </>
  )
}
