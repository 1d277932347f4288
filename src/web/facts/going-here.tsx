import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { isLive, type SessionOrigin, type SessionSummary } from '#model'
import { toShellLine } from '#render'
import type { ContinueOutcome } from '#wire'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { useDeed } from './deed.ts'
import { Losses } from './going-elsewhere.tsx'
import { GoingFolder } from './going-folder.tsx'
import { CopyLine } from './keeping.tsx'

const HOW: Readonly<Record<ContinueOutcome['workdirFrom'], string>> = {
  given: 'the folder you named',
  map: 'the folder that team.workdirs names for it',
  remote: 'the clone of the same repository',
  same: 'the folder of the same name',
}

/** Goes on here with a session of another machine. */
export function GoingHere({ session, origin }: { session: SessionSummary; origin: SessionOrigin }): VNode {
  const { throughline } = useShared()
  const [isBusy, act] = useDeed()
  const [folder, setFolder] = useState('')
  const [outcome, setOutcome] = useState<ContinueOutcome | undefined>(undefined)
  const isRunning = isLive(session.live)
  function goOn(): void {
    const workdir = folder.trim()
    act(async () => {
      const request = {
        ...(workdir === '' ? {} : { workdir }),
        ...(isRunning ? { takeOver: true } : {}),
      }
      setOutcome(await throughline.team.continueHere(session.id, request))
      return undefined
    })
  }
  if (outcome !== undefined) {
    return (
      <div class="going-outcome" aria-live="polite">
        <p>It goes on in {HOW[outcome.workdirFrom]}.</p>
        <Losses losses={outcome.losses} />
        <dl class="whereabouts">
          <CopyLine
            words="Go on with it in a terminal"
            text={toShellLine(outcome.command, outcome.workdir)}
          />
        </dl>
        <p>
          <a href={toHash({ kind: 'session', id: outcome.sessionId })}>Open it here</a>
        </p>
      </div>
    )
  }
  return (
    <>
      <GoingFolder
        words="In this folder; empty: where the same repository is"
        folder={folder}
        onFolder={setFolder}
      />
      <button type="button" class="button" disabled={isBusy} onClick={goOn}>
        {isRunning ? `End it on ${origin.machine} and continue here` : 'Continue here'}
      </button>
      <p class="soft small">
        Writes it as a session of this machine. The one on {origin.machine} stays as it is.
      </p>
    </>
  )
}
