import type { VNode } from 'preact'
import { Icon } from './icon.tsx'

/** Opens the list of sessions where there is no room for it beside the content. */
export function SideButton({ onSide }: { onSide: () => void }): VNode {
  return (
    <button type="button" class="icon-button side-button" aria-label="Sessions" onClick={onSide}>
      <Icon name="menu" />
    </button>
  )
}
