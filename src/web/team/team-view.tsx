import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { TeamMachine, TeamPerson, TeamShare } from '#model'
import { toPlural, toSize } from '#render'
import type { TeamStatus } from '#wire'
import { toAge, toMoment } from '../age.ts'
import { toSentence, useAnswer } from '../answer.ts'
import { useDeed } from '../facts/deed.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import '../style/parts.css'
import './team.css'

/** The daemon answers from memory; the database is not asked. */
const REFRESH_MS = 2000

/** How this machine stands in its team, who is in it, and what is shared. */
export function TeamView(): VNode {
  const { throughline } = useShared()
  const { answer, again } = useAnswer(() => throughline.team.status(), [useRefresh(REFRESH_MS)])
  return (
    <div class="view team-view">
      <header class="team-head">
        <h1>Team</h1>
        {answer.kind === 'there' && answer.value.self !== undefined && (
          <p class="soft">
            {answer.value.self.person}, {answer.value.self.role} of <b>{answer.value.self.team}</b>, on{' '}
            {answer.value.self.machine}
          </p>
        )}
      </header>
      {answer.kind === 'failed' && <TroubleNote trouble={answer.trouble} again={again} />}
      {answer.kind === 'there' && answer.value.state === 'none' && <Alone />}
      {answer.kind === 'there' && answer.value.state !== 'none' && (
        <>
          <Standing status={answer.value} />
          <Held status={answer.value} />
          {/* Once is enough to say that it does not answer. */}
          {answer.value.state !== 'away' && (
            <>
              <Shared />
              <People />
              <Machines status={answer.value} />
            </>
          )}
        </>
      )}
    </div>
  )
}

/** Grows every few seconds while the page is visible, and as soon as it is visible again. */
function useRefresh(everyMs: number): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const refresh = (): void => {
      if (document.visibilityState === 'visible') setCount((before) => before + 1)
    }
    const timer = setInterval(refresh, everyMs)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [everyMs])
  return count
}

function Alone(): VNode {
  return (
    <section class="team-alone">
      <p>
        This machine is in no team. With a PostgreSQL database, sessions of all your machines, and those that
        others share with you, stand in one list, and you answer from anywhere what they ask.
      </p>
      <ol>
        <li>
          <code>throughline team init postgres://…</code> begins a team, once.
        </li>
        <li>
          <code>throughline team invite &lt;person&gt;</code> gives an address for one further machine.
        </li>
        <li>
          <code>throughline team join -</code> uses it there.
        </li>
      </ol>
      <p class="soft small">Nobody else sees any session until you share it.</p>
    </section>
  )
}

const STATES: Readonly<Record<TeamStatus['state'], string>> = {
  none: '',
  connecting: 'The database is being asked.',
  connected: 'Connected.',
  away: 'The database does not answer. Everything of this machine works on, and is shipped when it is back.',
}

function Standing({ status }: { status: TeamStatus }): VNode {
  const { state, store, since, trouble, outbox, mirror } = status
  return (
    <section aria-label="How it stands">
      <p class={`team-state ${state}`} role="status">
        <span class={`dot ${state === 'connected' ? 'connected' : ''}`} aria-hidden="true" /> {STATES[state]}{' '}
        {since !== undefined && <span class="soft small">since {toMoment(since)}</span>}
      </p>
      {trouble !== undefined && (
        <TroubleNote trouble={{ message: toSentence(trouble.message), hint: trouble.hint ?? '' }} />
      )}
      <dl class="team-figures">
        <div>
          <dt>To ship</dt>
          <dd>
            {outbox.waiting === 0
              ? 'nothing'
              : `${toPlural(outbox.waiting, 'file')}, ${toSize(outbox.bytes)}`}
          </dd>
        </div>
        <div>
          <dt>Stays here</dt>
          <dd>{outbox.held.length === 0 ? 'nothing' : toPlural(outbox.held.length, 'line')}</dd>
        </div>
        <div>
          <dt>Here of others</dt>
          <dd>
            {toPlural(mirror.files, 'file')}, {toSize(mirror.bytes)}
          </dd>
        </div>
        <div>
          <dt>Database</dt>
          <dd>
            <code>{store}</code>
          </dd>
        </div>
      </dl>
    </section>
  )
}

function Held({ status }: { status: TeamStatus }): VNode | null {
  const { held } = status.outbox
  if (held.length === 0) return null
  return (
    <TeamPart title="Stays on this machine">
      <p class="soft small">
        These lines could not be searched for secrets, or are too long. Nobody else gets them.
      </p>
      <ul class="team-rows">
        {held.slice(0, 50).map(({ path, offset, reason }) => (
          <li key={`${path} ${offset}`}>
            <span class="cut">
              <code>{path}</code>
            </span>
            <span class="soft small">
              at {offset}: {reason}
            </span>
          </li>
        ))}
      </ul>
    </TeamPart>
  )
}

function Shared(): VNode {
  const { throughline } = useShared()
  const [isBusy, act] = useDeed()
  const { answer, again } = useAnswer(() => throughline.team.shares(), [])
  function end(share: TeamShare): void {
    act(async () => {
      await throughline.team.unshare(share)
      again()
      return 'Taken back.'
    })
  }
  return (
    <TeamPart title="What you share">
      {answer.kind === 'failed' && <TroubleNote trouble={answer.trouble} again={again} />}
      {answer.kind === 'there' && answer.value.length === 0 && (
        <p class="soft">
          Nothing. A session is shared among its facts, a folder with{' '}
          <code>throughline team share --workdir</code>.
        </p>
      )}
      {answer.kind === 'there' && (
        <ul class="team-rows">
          {answer.value.map((share) => (
            <li key={JSON.stringify(share)}>
              <span class="cut">{toWhat(share)}</span>
              <span class="soft small">
                {share.with === 'everybody' ? 'with everybody' : `with ${share.with.person}`}
                {share.may === 'answer' ? ', who may answer' : ''}
              </span>
              <button type="button" class="button" disabled={isBusy} onClick={() => end(share)}>
                Take back<span class="unseen"> {toWhat(share)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </TeamPart>
  )
}

function toWhat(share: TeamShare): string {
  switch (share.kind) {
    case 'session':
      return `Session ${share.session.slice(0, 8)}`
    case 'workdir':
      return share.workdir
    case 'everything':
      return 'Everything of yours'
  }
}

function People(): VNode {
  const { throughline } = useShared()
  const { answer, again } = useAnswer(() => throughline.team.people(), [])
  return (
    <TeamPart title="People">
      {answer.kind === 'failed' && <TroubleNote trouble={answer.trouble} again={again} />}
      {answer.kind === 'there' && (
        <ul class="team-rows">
          {answer.value.map((person) => (
            <PersonRow key={person.name} person={person} />
          ))}
        </ul>
      )}
    </TeamPart>
  )
}

function PersonRow({ person }: { person: TeamPerson }): VNode {
  return (
    <li>
      <span class="cut">{person.name}</span>
      <span class="soft small">
        {person.removed ? 'removed' : `${person.role}, since ${toMoment(person.joinedAt)}`}
      </span>
    </li>
  )
}

function Machines({ status }: { status: TeamStatus }): VNode {
  const { throughline, now } = useShared()
  const [isBusy, act] = useDeed()
  const { answer, again } = useAnswer(() => throughline.team.machines(), [])
  function revoke({ origin, machine }: TeamMachine): void {
    if (!confirm(`End the way in of ${machine}? It has to be invited again.`)) return
    act(async () => {
      await throughline.team.revoke(origin)
      again()
      return `${machine} has no way in any more.`
    })
  }
  return (
    <TeamPart title={status.self?.role === 'admin' ? 'Machines' : 'Your machines'}>
      {answer.kind === 'failed' && <TroubleNote trouble={answer.trouble} again={again} />}
      {answer.kind === 'there' && (
        <ul class="team-rows">
          {answer.value.map((one) => (
            <li key={one.origin}>
              <span class="cut">
                {one.machine === '' ? 'not joined yet' : one.machine}{' '}
                <span class="soft small">{one.person}</span>
              </span>
              <span class="soft small">
                {toSeen(one, { now: now.value, isHere: one.origin === status.self?.origin })}
              </span>
              {one.state !== 'revoked' && one.origin !== status.self?.origin && (
                <button type="button" class="button" disabled={isBusy} onClick={() => revoke(one)}>
                  Revoke<span class="unseen"> {one.machine}</span>
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </TeamPart>
  )
}

function toSeen(
  { state, seenAt }: TeamMachine,
  { now, isHere }: { readonly now: number; readonly isHere: boolean },
): string {
  if (isHere) return 'this machine'
  if (state !== 'joined' || seenAt === undefined) return state
  const age = toAge(seenAt, now)
  return age === 'now' ? 'seen just now' : `seen ${age} ago`
}

function TeamPart({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <section class="team-part">
      <h2>{title}</h2>
      {children}
    </section>
  )
}
