import type { VNode } from 'preact'
import { ThroughlineError } from '#base'
import { SideButton } from './side-button.tsx'

/** What stands where a session would be that is not here, or is one of several. */
export function MissingSession({ error, onSide }: { error: Error; onSide: () => void }): VNode {
  const hint = error instanceof ThroughlineError ? error.hint : ''
  const isAmbiguous = error instanceof ThroughlineError && error.code === 'session-ambiguous'
  return (
    <div class="framed">
      <header class="phone-bar">
        <SideButton onSide={onSide} />
        <span>Session</span>
      </header>
      <div class="state" role="alert">
        <h1>{isAmbiguous ? 'Which session is meant?' : 'There is no such session here'}</h1>
        <p>{error.message}</p>
        <p>{hint}</p>
      </div>
    </div>
  )
}
