import type { ComponentChildren, VNode } from 'preact'
import { AGENT_NAMES, isNativeAgent, type SessionSummary, type Trouble } from '#model'
import { toPlural } from '#render'
import type { LineageLink, Preflight } from '#wire'
import { useAnswer } from '../answer.ts'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { useDeed } from './deed.ts'
import { GoingElsewhere } from './going-elsewhere.tsx'
import { GoingHere } from './going-here.tsx'
import { GoingRoom } from './going-room.tsx'

/** Whether a session can be gone on with as it is, what mends it, what makes room, and how to go on in another agent. */
export function GoingOn({ session }: { session: SessionSummary }): VNode {
  const { throughline } = useShared()
  const { answer, again } = useAnswer(
    () => throughline.restoring.preflight(session.id),
    [session.id, session.size],
  )
  const troubles = answer.kind === 'there' ? answer.value.troubles : []
  return (
    <div class="going-on">
      {answer.kind === 'waiting' && <p class="soft">Looking…</p>}
      {answer.kind === 'failed' && <TroubleNote trouble={answer.trouble} again={again} />}
      {answer.kind === 'there' && (
        <>
          <GoingStep title="The next request">
            <Troubles session={session} preflight={answer.value} />
          </GoingStep>
          <GoingStep title="Room in the window">
            <GoingRoom session={session} preflight={answer.value} again={again} />
          </GoingStep>
        </>
      )}
      {session.origin === undefined ? (
        <GoingStep title="In another agent, or on a copy">
          <GoingElsewhere
            session={session}
            isFolderGone={troubles.some(({ kind }) => kind === 'workdir-gone')}
          />
        </GoingStep>
      ) : (
        <GoingStep title="On this machine">
          <GoingHere session={session} origin={session.origin} />
        </GoingStep>
      )}
      <Kin session={session} />
    </div>
  )
}

function GoingStep({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

const SHOWN = 20

function Troubles({ session, preflight }: { session: SessionSummary; preflight: Preflight }): VNode {
  const { throughline, go } = useShared()
  const [isBusy, act] = useDeed()
  const troubles = preflight.troubles.filter(({ isHandled }) => isHandled !== true)
  const handled = preflight.troubles.length - troubles.length
  if (troubles.length === 0)
    return (
      <p>
        Nothing would fail it.
        {handled > 0 && ` ${toPlural(handled, 'problem')} the agent puts right itself when it resumes.`}
      </p>
    )
  const canMend = troubles.some(({ mend }) => mend !== undefined)
  function repair(): void {
    act(async () => {
      const { sessionId, mended } = await throughline.restoring.repair(session.id)
      if (sessionId !== undefined) go({ kind: 'session', id: sessionId })
      return `${toPlural(mended.length, 'thing')} mended, on a copy.`
    })
  }
  return (
    <>
      <details open={troubles.length < 4}>
        <summary>{toPlural(troubles.length, 'thing')} would fail it</summary>
        <ul>
          {troubles.slice(0, SHOWN).map((trouble) => (
            <TroubleLine
              key={`${trouble.origin.entryId} ${trouble.origin.index} ${trouble.kind}`}
              session={session}
              trouble={trouble}
            />
          ))}
        </ul>
        {troubles.length > SHOWN && <p class="soft small">…and {troubles.length - SHOWN} more.</p>}
      </details>
      {canMend && (
        <>
          <button type="button" class="button" disabled={isBusy} onClick={repair}>
            {isBusy ? 'Mending…' : 'Mend it on a copy'}
          </button>
          <p class="soft small">A new session with the smallest change for each; this one stays as it is.</p>
        </>
      )}
    </>
  )
}

function TroubleLine({ session, trouble }: { session: SessionSummary; trouble: Trouble }): VNode {
  const { reason, fix, origin, mend } = trouble
  return (
    <li>
      <a href={toHash({ kind: 'session', id: session.id, entry: origin.entryId })}>{reason}</a>
      <span class="soft small">
        {mend === undefined ? '' : 'Mended: '}
        {fix}
      </span>
    </li>
  )
}

const KINDS: Readonly<Record<LineageLink['kind'], string>> = {
  repaired: 'mended',
  converted: 'written for another agent',
  'handed-over': 'handed over',
  forked: 'forked',
}

/** What the session was made of, and what was made of it. */
function Kin({ session }: { session: SessionSummary }): VNode | null {
  const { throughline } = useShared()
  const { answer } = useAnswer(() => throughline.restoring.lineage(session.id), [session.id, session.size])
  if (answer.kind !== 'there') return null
  const { from, to } = answer.value
  if (from === undefined && to.length === 0) return null
  return (
    <GoingStep title="Where it came from, and where it went">
      <ul>
        {from !== undefined && <KinLine words="Made of" link={from} />}
        {to.map((link) => (
          <KinLine key={link.sessionId} words="Became" link={link} />
        ))}
      </ul>
    </GoingStep>
  )
}

function KinLine({ words, link }: { words: string; link: LineageLink }): VNode {
  const { sessionId, agent, kind } = link
  return (
    <li>
      <span>
        {words}{' '}
        <a href={toHash({ kind: 'session', id: sessionId })}>
          a session of {isNativeAgent(agent) ? AGENT_NAMES[agent] : agent}
        </a>
      </span>
      <span class="soft small">{KINDS[kind]}</span>
    </li>
  )
}
