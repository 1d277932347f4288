import type { VNode } from 'preact'
import type { SessionSummary, TeamShare } from '#model'
import { useAnswer } from '../answer.ts'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { useDeed } from './deed.ts'

/** Who else sees a session. Nothing where this machine is in no team. */
export function Sharing({ session }: { session: SessionSummary }): VNode | null {
  const { throughline } = useShared()
  const status = useAnswer(() => throughline.team.status(), [])
  const { answer } = status
  if (session.demo === true || answer.kind !== 'there' || answer.value.state === 'none') return null
  const isOthers = session.origin?.mine === false
  return (
    <section class="fact">
      <h2>Who sees it</h2>
      {isOthers ? (
        <p>
          {session.origin?.person} shares it with you, from {session.origin?.machine}.
        </p>
      ) : (
        <Shares session={session} isViewer={answer.value.self?.role === 'viewer'} />
      )}
    </section>
  )
}

function Shares({ session, isViewer }: { session: SessionSummary; isViewer: boolean }): VNode {
  const { throughline } = useShared()
  const [isBusy, act] = useDeed()
  const { answer, again } = useAnswer(() => throughline.team.shares(), [session.id])
  if (answer.kind === 'waiting') return <p class="soft">Looking…</p>
  if (answer.kind === 'failed') return <TroubleNote trouble={answer.trouble} again={again} />
  const covering = answer.value.filter((share) => covers(share, session))
  const whole: TeamShare = { kind: 'session', session: session.id, with: 'everybody' }
  const isShared = covering.some(({ kind, with: reader }) => kind === 'session' && reader === 'everybody')
  function change(): void {
    act(async () => {
      await (isShared ? throughline.team.unshare(whole) : throughline.team.share(whole))
      again()
      return isShared ? 'It is yours alone again.' : 'Everybody in the team sees it now.'
    })
  }
  return (
    <>
      {covering.length === 0 ? (
        <p>Only you, on your machines.</p>
      ) : (
        <ul>
          {covering.map((share) => (
            <li key={JSON.stringify(share)}>{describeShare(share)}</li>
          ))}
        </ul>
      )}
      {!isViewer && (
        <button type="button" class="button" disabled={isBusy} onClick={change}>
          {isShared ? 'Take it back' : 'Share it with the team'}
        </button>
      )}
      <p class="soft small">
        Secrets are masked before anything leaves this machine.{' '}
        <a href={toHash({ kind: 'team' })}>The team</a>
      </p>
    </>
  )
}

function covers(share: TeamShare, { id, workdirs }: SessionSummary): boolean {
  switch (share.kind) {
    case 'session':
      return share.session === id
    case 'workdir':
      return workdirs.some((dir) => dir === share.workdir || dir.startsWith(`${share.workdir}/`))
    case 'everything':
      return true
  }
}

/** A share in words: who, and by what. */
function describeShare(share: TeamShare): string {
  const who = share.with === 'everybody' ? 'Everybody in the team' : share.with.person
  const may = share.may === 'answer' ? ', who may answer what it asks' : ''
  return `${who}${may}${WHY[share.kind]}`
}

const WHY: Readonly<Record<TeamShare['kind'], string>> = {
  session: '',
  workdir: ', as everything that is done in its folder',
  everything: ', as everything of yours',
}
