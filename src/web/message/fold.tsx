import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../icon.tsx'

/** What a person opened or closed stays so while they scroll away and back. */
const opened = new WeakMap<object, boolean>()

/** Something folded away behind one line. Its inside is made when it is opened. */
export function Fold(props: {
  /** What is folded: the same thing is open again when it comes back into view. */
  of: object
  class?: string
  /** The call that it shows, by which it is found. */
  call?: string
  /** Open until somebody closes it. */
  isOpen?: boolean
  summary: ComponentChildren
  children: () => ComponentChildren
}): VNode {
  const [open, setOpen] = useOpen(props.of, props.isOpen)
  return (
    <details
      class={props.class === undefined ? 'fold' : `fold ${props.class}`}
      data-call={props.call}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="fold-sign">
          <Icon name="chevron" />
        </span>
        {props.summary}
      </summary>
      {open ? <div class="fold-inside">{props.children()}</div> : null}
    </details>
  )
}

/** Whether a thing is open, and how to open or close it. */
export function useOpen(of: object, isOpen = false): [boolean, (open: boolean) => void] {
  const [open, setOpen] = useState(opened.get(of) ?? isOpen)
  return [
    open,
    (next) => {
      opened.set(of, next)
      setOpen(next)
    },
  ]
}
