import { createContext, type Context, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { safeText } from '#render'
import { Icon } from '../icon.tsx'

/** Copies text and says so. */
export type Copy = (text: string, what: string) => void

/** How anything inside copies. Outside of it there are no copy buttons. */
export const CopyContext: Context<Copy | undefined> = createContext<Copy | undefined>(undefined)

/** Copies what is shown, hidden characters as they are shown: what is pasted is what was seen. */
export function CopyButton({ text, what }: { text: string; what: string }): VNode | null {
  const copy = useContext(CopyContext)
  if (copy === undefined) return null
  return (
    <button
      type="button"
      class="passage-button"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => copy(safeText(text), what)}
    >
      <Icon name="copy" />
    </button>
  )
}
