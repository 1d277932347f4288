import type { VNode } from 'preact'
import { LiveDemoButton } from '../live/live-demo-button.tsx'
import { useShared } from '../shared.ts'
import { DemoButton } from './demo-button.tsx'
import { Problems } from './problems.tsx'

/** Nothing was found yet: where it was looked for, what to do, and something to look at meanwhile. */
export function FirstVisit(): VNode {
  const { lookedIn, problems } = useShared()
  const folders = lookedIn.value
  return (
    <div class="view welcome first-visit">
      <h1>No sessions yet</h1>
      <p class="lead">
        Throughline shows the sessions that coding agents leave on this machine, from the first word to the
        last. It reads their files and never changes them.
      </p>
      <section>
        <h2>{folders.length === 0 ? 'There is no folder to look in' : 'Where it looks'}</h2>
        {folders.length > 0 && (
          <ul class="folders">
            {folders.map((folder) => (
              <li key={folder}>
                <code>{folder}</code>
              </li>
            ))}
          </ul>
        )}
        <p class="soft">
          As soon as something is written there, it appears here by itself. If your sessions are elsewhere,
          say so with <code>CLAUDE_CONFIG_DIR</code> and start the daemon again.
        </p>
      </section>
      <Problems problems={problems.value} />
      <section>
        <h2>What you can do</h2>
        <ol class="steps">
          <li>
            Start Claude Code in any folder: <code>claude</code>. Its session is here with its first line.
          </li>
          <li>Or start a session from here, and answer it from any device.</li>
          <li>Or look around first, with sample sessions, or a live one that needs no account.</li>
        </ol>
        <div class="ways">
          <DemoButton wanted="on" words="Show me a demo" class="button primary" />
          <LiveDemoButton class="button" />
        </div>
      </section>
    </div>
  )
}
