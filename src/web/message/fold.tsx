import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../icon.tsx'

/** What a person opened stays open while they scroll away and back. */
const opened = new WeakSet<object>()

/** Something folded away behind one line. Its inside is made when it is opened. */
export function Fold(props: {
  /** What is folded: the same thing is open again when it comes back into view. */
  of: object
  class?: string
  summary: ComponentChildren
  children: () => ComponentChildren
}): VNode {
  const [open, setOpen] = useOpen(props.of)
  return (
    <details
      class={props.class === undefined ? 'fold' : `fold ${props.class}`}
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
export function useOpen(of: object): [boolean, (open: boolean) => void] {
  const [open, setOpen] = useState(opened.has(of))
  return [
    open,
    (next) => {
      if (next) opened.add(of)
      else opened.delete(of)
      setOpen(next)
    },
  ]
}
