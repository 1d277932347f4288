import type { VNode } from 'preact'
import type { Damage, NoticeMessage, OrphanMessage } from '#model'
import { toDamageLine, toSize } from '#render'
import { Icon } from '../icon.tsx'
import { lazyView } from '../lazy-view.tsx'
import { CopyButton } from './copying.tsx'
import { Fold } from './fold.tsx'
import { toMarked } from './marks.tsx'
import type { PassageContext } from './passage-context.ts'
import { Moment } from './passage-tools.tsx'

const Output = lazyView(async () => (await import('./call-body.tsx')).Output)

/** Something the client said to the person. */
export function NoticeView({ notice, context }: { notice: NoticeMessage; context: PassageContext }): VNode {
  const { marks, session } = context
  const [entry] = notice.entries
  if (entry?.kind === 'oversize') {
    return (
      <div class="notice notice-loud" role="note">
        <Icon name="warning" />
        <p>
          A record of {toSize(entry.place.length)} ({toMarked(entry.type, marks)}) is too large to show. It is
          whole in the transcript. <NextStep command={`throughline export ${session.id} --format jsonl`} />
        </p>
      </div>
    )
  }
  const isStop = entry?.kind === 'interruption'
  const isError = /err|crit/i.test(notice.level)
  const isLoud = isError || (/warn/i.test(notice.level) && !isStop)
  return (
    <div
      class={isLoud ? `notice notice-loud${isError ? ' notice-error' : ''}` : 'notice'}
      {...(isLoud ? { role: 'note' } : {})}
    >
      {isLoud ? <Icon name="warning" /> : isStop ? <Icon name="cross" /> : null}
      <p>
        {isError && entry?.kind === 'reply' && !/^api error/i.test(notice.text) ? <b>API error </b> : null}
        {toMarked(notice.text.trim() === '' ? notice.level : notice.text.trim(), marks)}
      </p>
      <Moment at={notice.at} />
    </div>
  )
}

/** An answer whose question is not there. */
export function OrphanView({ orphan, context }: { orphan: OrphanMessage; context: PassageContext }): VNode {
  const { marks } = context
  return (
    <Fold
      of={orphan.answer}
      class="call call-failed"
      summary={
        <>
          <span class="call-icon">
            <Icon name="warning" />
          </span>
          <span class="call-tool">Result of a call that is not here</span>
          <span class="call-detail">{toMarked(orphan.toolUseId.slice(0, 80), marks)}</span>
        </>
      }
    >
      {() => <Output blocks={orphan.answer.content} failed={orphan.answer.isError} marks={marks} />}
    </Fold>
  )
}

/** A place whose bytes could not be read, and what can be done about it. */
export function DamageView({ damage, context }: { damage: Damage; context: PassageContext }): VNode {
  return (
    <div class="notice notice-loud" role="note">
      <Icon name="warning" />
      <p>
        {toDamageLine(damage)}. Everything around it is shown.{' '}
        <NextStep command={`throughline check ${context.session.id}`} />
      </p>
    </div>
  )
}

function NextStep({ command }: { command: string }): VNode {
  return (
    <span class="next-step">
      <code>{command}</code>
      <CopyButton text={command} what="the command" />
    </span>
  )
}
