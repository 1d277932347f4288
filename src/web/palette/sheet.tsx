import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import '../style/parts.css'
import './palette.css'

interface Props {
  readonly label: string
  readonly class: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Something that lies over the app until it is closed. The focus stays inside, and goes back where it was. */
export function Sheet({ label, class: name, onClose, children }: Props): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      dialog.current?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`sheet ${name}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        // The dialog itself is hit only beside its content.
        if (event.target === event.currentTarget) onClose()
      }}
    >
      <div class="sheet-body">{children}</div>
    </dialog>
  )
}
