import type { ComponentChildren, VNode } from 'preact'
import { safeLine } from '#render'
import { Icon } from '../icon.tsx'
import { Fold } from './fold.tsx'
import { toMarked } from './marks.tsx'
import type { PassageContext } from './passage-context.ts'
import type { StartedSubagent } from './reply-parts.ts'

/** A conversation inside of this one. It is read when it is opened. */
export function Subagent({ started, context }: { started: StartedSubagent; context: PassageContext }): VNode {
  const known = context.session.subagents.find(({ id }) => id === started.id)
  return (
    <Fold of={known ?? started} class="subagent" summary={toTitle(started, context.marks)}>
      {() => <div class="subagent-conversation">{context.renderSubagent(started.id, started.work)}</div>}
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
