import type { ComponentChildren, VNode } from 'preact'
import { toClockTime, toMoment } from '../age.ts'
import { Icon } from '../icon.tsx'
import type { Picked } from '../memory-part.ts'
import { CopyButton } from './copying.tsx'
import type { PassageContext } from './passage-context.ts'

/** What can be done with a passage, and what is known of it. Shown when a person points at it. */
export function PassageTools(props: {
  id: string
  /** Its last entry, where it has several. */
  last?: string | undefined
  text: string
  /** What it says, where that can be remembered. */
  message?: Picked['message']
  what: string
  context: PassageContext
  children?: ComponentChildren
}): VNode {
  const { id, text, message, what, context } = props
  const { memory } = context
  return (
    <div class="passage-tools">
      {props.children}
      {memory === undefined || message === undefined || text === '' ? null : (
        <button
          type="button"
          class="passage-button"
          aria-label={`Remember ${what}`}
          title={`Remember ${what}…`}
          onClick={() => memory.remember({ text, message })}
        >
          <Icon name="diamond" />
        </button>
      )}
      {context.fork === undefined ? null : (
        <button
          type="button"
          class="passage-button"
          aria-label="Fork from here"
          title="Fork from here: another session with everything up to this"
          onClick={() => context.fork?.(props.last ?? id)}
        >
          <Icon name="branch" />
        </button>
      )}
      {text === '' ? null : <CopyButton text={text} what={what} />}
      <a
        class="passage-button"
        href={context.hrefOf(id)}
        aria-label="Copy link"
        title="Copy a link to this message"
        onClick={(event) => {
          // Another tab or window is for the browser to open.
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
          event.preventDefault()
          context.copyLink(id)
        }}
      >
        <Icon name="link" />
      </a>
    </div>
  )
}

/** When something was said: the time of day, and all of it on asking. */
export function Moment({ at }: { at: string | undefined }): VNode | null {
  const clock = toClockTime(at)
  if (clock === '' || at === undefined) return null
  return (
    <time dateTime={new Date(at).toISOString()} title={toMoment(at)}>
      {clock}
    </time>
  )
}
