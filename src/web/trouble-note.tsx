import type { VNode } from 'preact'
import type { Trouble } from './answer.ts'
import { Icon } from './icon.tsx'
import './style/parts.css'

/** Says what went wrong and what to do next. */
export function TroubleNote({ trouble, again }: { trouble: Trouble; again?: () => void }): VNode {
  return (
    <div class="trouble" role="alert">
      <Icon name="warning" />
      <div>
        <p>
          <strong>{trouble.message}</strong>
        </p>
        {trouble.hint !== '' && <p class="soft">{trouble.hint}</p>}
        {again !== undefined && (
          <button type="button" class="button" onClick={again}>
            Try again
          </button>
        )}
      </div>
    </div>
  )
}
