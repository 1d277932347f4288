import type { ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import { Icon } from './icon.tsx'
import type { Connection } from './shared.ts'
import './style/gate.css'

/** What stands in place of the app while it cannot be used: not logged in, or no daemon to be reached. */
export function Gate({ connection }: { connection: ReadonlySignal<Connection> }): VNode {
  const { title, text, command } = toWords(connection.value)
  return (
    <main class="gate">
      <div class="gate-card">
        <h1>
          <Icon name="thread" /> Throughline
        </h1>
        <h2>{title}</h2>
        <p>{text}</p>
        {command === undefined ? undefined : <pre tabIndex={0}>{command}</pre>}
      </div>
    </main>
  )
}

function toWords(connection: Connection): {
  readonly title: string
  readonly text: string
  readonly command?: string
} {
  switch (connection.kind) {
    case 'logged-out':
      if (connection.why === 'old-link') {
        return {
          title: 'That link was used already, or is too old',
          text: 'It works once, for a minute. Ask for a new one in a terminal on the machine that Throughline runs on.',
          command: 'throughline open',
        }
      }
      return {
        title:
          connection.why === 'revoked'
            ? 'This browser is not logged in any more'
            : 'This browser is not logged in',
        text: 'Open Throughline from a terminal on the machine it runs on. It logs this browser in once.',
        command: 'throughline open',
      }
    case 'failed':
      return {
        title: 'The daemon does not answer',
        text: `${connection.message}. It is tried again by itself. ${connection.hint}`,
        command: 'throughline status',
      }
    case 'connecting':
    case 'connected':
    case 'reconnecting':
      return { title: 'One moment', text: 'Connecting to the daemon…' }
  }
}
