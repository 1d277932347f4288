import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/**
 * While a card is open its buttons and options can be pressed by the keys that they name in `aria-keyshortcuts`. Where
 * several cards are on the page, the one in focus is meant, and none when no one is. What is disabled stays so: nothing
 * is allowed by a key that could not be allowed by a click.
 */
export function useCardKeys(card: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const element = card.current
      if (element === null || element !== findMeant() || event.repeat) return
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('dialog[open]') !== null) return
      const { target, key } = event
      const isComposer = target instanceof HTMLElement && target.id === 'composer'
      if (key !== 'Escape' ? isText(target) : isComposer || event.isComposing) {
        // Whoever wrote a moment ago goes over to what is asked.
        if (key === 'Escape' && isComposer && !event.isComposing) element.focus()
        return
      }
      const button = element.querySelector<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`)
      if (button === null) return
      // Other keys of the page are meant for the conversation, and two presses of Escape for the turn.
      event.preventDefault()
      event.stopImmediatePropagation()
      if (key === 'Escape') element.focus()
      button.click()
    }
    addEventListener('keydown', onKey, true)
    return () => removeEventListener('keydown', onKey, true)
  }, [])
}

function findMeant(): Element | undefined {
  const cards = document.querySelectorAll('.attention')
  const focused = document.activeElement?.closest('.attention')
  return focused ?? (cards.length === 1 ? cards[0] : undefined)
}

/** Boxes of options are fields too, and nothing is written in them. */
function isText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio'].includes(target.type)
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** The key of one of several options: `1` to `9`. */
export function toOptionKey(at: number): { readonly 'aria-keyshortcuts'?: string } {
  return at < 9 ? { 'aria-keyshortcuts': String(at + 1) } : {}
}
