import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { AGENT_NAMES, NATIVE_AGENTS, type Loss, type NativeAgent, type SessionSummary } from '#model'
import { toCount, toPlural, toShellLine } from '#render'
import type { ConvertOutcome } from '#wire'
import { AgentIcon } from '../agent-icon.tsx'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { useDeed } from './deed.ts'
import { GoingFolder } from './going-folder.tsx'
import { CopyLine } from './keeping.tsx'

/** Writes the session as a native one of an agent, after it has said what that one would not get. */
export function GoingElsewhere(props: { session: SessionSummary; isFolderGone: boolean }): VNode {
  const { session, isFolderGone } = props
  const { throughline } = useShared()
  const [isBusy, act] = useDeed()
  const [folder, setFolder] = useState('')
  const [outcome, setOutcome] = useState<ConvertOutcome | undefined>(undefined)
  const needsFolder = isFolderGone && folder.trim() === ''
  function convert(to: NativeAgent, dryRun: boolean): void {
    const workdir = folder.trim()
    act(async () => {
      const request = { to, dryRun, ...(workdir === '' ? {} : { workdir }) }
      setOutcome(await throughline.restoring.convert(session.id, request))
      return undefined
    })
  }
  return (
    <>
      {isFolderGone && (
        <GoingFolder
          words="Its folder is not there any more. Go on in this one:"
          folder={folder}
          onFolder={setFolder}
        />
      )}
      <p class="going-agents" role="group" aria-label="Go on in">
        {NATIVE_AGENTS.map((agent) => (
          <button
            key={agent}
            type="button"
            class="button"
            aria-pressed={outcome?.agent === agent}
            disabled={isBusy || needsFolder}
            onClick={() => convert(agent, true)}
          >
            <span aria-hidden="true">
              <AgentIcon agent={agent} />
            </span>
            {AGENT_NAMES[agent]}
          </button>
        ))}
      </p>
      {outcome === undefined ? (
        <p class="soft small">Says first what would not be carried. This session stays as it is.</p>
      ) : (
        <div class="going-outcome" aria-live="polite">
          <Losses losses={outcome.losses} />
          {outcome.isWritten ? (
            <>
              <dl class="whereabouts">
                <CopyLine
                  words="Go on with it in a terminal"
                  text={toShellLine(outcome.command, outcome.workdir)}
                />
              </dl>
              <p>
                <a href={toHash({ kind: 'session', id: outcome.sessionId })}>Open it here</a>{' '}
                <span class="soft small">It is listed once something is said in it.</span>
              </p>
            </>
          ) : (
            <button
              type="button"
              class="button primary"
              disabled={isBusy}
              onClick={() => convert(outcome.agent, false)}
            >
              Write it as a session of {AGENT_NAMES[outcome.agent]}
            </button>
          )}
        </div>
      )}
    </>
  )
}

const HOW: Readonly<Record<Loss['how'], string>> = {
  dropped: 'Left out',
  changed: 'Changed',
  added: 'Added',
}
const SHOWN = 20

/** What would not be, or was not, carried as it was. */
export function Losses({ losses }: { losses: readonly Loss[] }): VNode {
  if (losses.length === 0) return <p>Everything is carried as it was.</p>
  const counts = new Map<string, { readonly loss: Loss; readonly count: number }>()
  for (const loss of losses) {
    const key = `${loss.how} ${loss.kind} ${loss.why}`
    counts.set(key, { loss, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return (
    <>
      <p>{toPlural(losses.length, 'thing')} not carried as they were:</p>
      <ul>
        {[...counts].slice(0, SHOWN).map(([key, { loss, count }]) => (
          <li key={key}>
            <span>
              <span class="tag">{HOW[loss.how]}</span> {loss.why}
            </span>
            <span class="soft small">
              {loss.kind}
              {count > 1 && `, ${toCount(count)} times`}
            </span>
          </li>
        ))}
      </ul>
      {counts.size > SHOWN && <p class="soft small">…and {counts.size - SHOWN} more kinds.</p>}
    </>
  )
}
