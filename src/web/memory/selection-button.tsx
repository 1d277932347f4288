import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { isTyping } from '../keys.ts'
import './told.css'

interface Selected {
  readonly text: string
  readonly entryId: string
  readonly left: number
  readonly top: number
}

/** Fewer characters are a slip of the hand. */
const LEAST = 3
const MOST = 20_000
const ABOVE_PX = 40
/** A selection rests for this long before anything appears. */
const REST_MS = 180

/**
 * A small button at words that are selected in one message: what is selected can be remembered. With a key, so can the
 * message that has the focus; of that the text is left to who knows it.
 */
export function SelectionButton(props: {
  onRemember: (text: string | undefined, entryId: string) => void
}): VNode | null {
  const selected = useSignal<Selected | undefined>(undefined)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => (selected.value = findSelected()), REST_MS)
    }
    const hide = (): void => {
      if (selected.value !== undefined) look()
    }
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'm' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
      if (document.querySelector('dialog[open]') !== null) return
      const found = findSelected() ?? findFocused()
      if (found === undefined) return
      event.preventDefault()
      props.onRemember(found.text, found.entryId)
    }
    addEventListener('keydown', onKey)
    document.addEventListener('selectionchange', look)
    addEventListener('scroll', hide, { capture: true, passive: true })
    addEventListener('resize', hide)
    return () => {
      clearTimeout(timer)
      removeEventListener('keydown', onKey)
      document.removeEventListener('selectionchange', look)
      removeEventListener('scroll', hide, { capture: true })
      removeEventListener('resize', hide)
    }
  }, [])
  const shown = selected.value
  if (shown === undefined) return null
  return (
    <button
      type="button"
      class="selection-button"
      style={{ left: `${shown.left}px`, top: `${shown.top}px` }}
      // The selection stays while the button is pressed.
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => {
        props.onRemember(shown.text, shown.entryId)
        document.getSelection()?.removeAllRanges()
        selected.value = undefined
      }}
    >
      <span aria-hidden="true">◆</span> Remember
    </button>
  )
}

/** What is selected, when it stands in one message of the conversation. */
function findSelected(): Selected | undefined {
  const selection = document.getSelection()
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return undefined
  const range = selection.getRangeAt(0)
  const message = toElement(range.commonAncestorContainer)?.closest('.passage-prompt, .passage-reply')
  const entryId = message?.getAttribute('data-id') ?? ''
  if (!message?.closest('.conversation') || entryId === '') return undefined
  const text = selection.toString().trim()
  if (text.length < LEAST || text.length > MOST) return undefined
  const box = range.getBoundingClientRect()
  if (box.bottom < 0 || box.top > innerHeight || box.width + box.height === 0) return undefined
  const isRoomAbove = box.top > ABOVE_PX + 60
  return {
    text,
    entryId,
    left: Math.max(64, Math.min(innerWidth - 64, box.left + box.width / 2)),
    top: isRoomAbove ? box.top - ABOVE_PX : Math.min(innerHeight - 48, box.bottom + 8),
  }
}

function findFocused(): { readonly text: undefined; readonly entryId: string } | undefined {
  const row = document.activeElement?.closest('.conversation-row')
  const entryId = row?.querySelector('.passage-prompt, .passage-reply')?.getAttribute('data-id') ?? ''
  return entryId === '' ? undefined : { text: undefined, entryId }
}

function toElement(node: Node): Element | null {
  return node instanceof Element ? node : node.parentElement
}
