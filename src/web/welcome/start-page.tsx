import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { isLive, type SessionSummary } from '#model'
import { toCount, toPlural, toSize, toTokens } from '#render'
import type { Health, UsageTotals } from '#wire'
import { toAge, toMoment } from '../age.ts'
import { useAnswer } from '../answer.ts'
import { toHash } from '../route.ts'
import { toFolderName } from '../folder-names.ts'
import { toTitle, withRunning, workdirOf } from '../session-groups.ts'
import { toBadges, type Badge } from '../session-state.ts'
import { useShared } from '../shared.ts'
import { moveDay, toDay } from '../usage/days.ts'
import { toAmount, toMoney } from '../usage/figures.ts'
import { DemoButton } from './demo-button.tsx'
import { Notices, Problems } from './problems.tsx'

const RECENT = 8

/** Where to go on: what waits, what was last, and how things are. */
export function StartPage({ sessions }: { sessions: readonly SessionSummary[] }): VNode {
  const { board, health, now, problems } = useShared()
  const all = withRunning(sessions, board.value)
  const isWaiting = (session: SessionSummary): boolean =>
    toBadges(session, board.value.get(session.id))[0]?.kind === 'waiting'
  const waiting = all.filter(isWaiting)
  const recent = all.filter((session) => !isWaiting(session)).slice(0, RECENT)
  const samples = sessions.filter(({ demo }) => demo === true).length
  return (
    <div class="view welcome">
      <h1>
        {waiting.length > 0
          ? `${toPlural(waiting.length, 'session')} ${waiting.length === 1 ? 'waits' : 'wait'} for you`
          : toGreeting(now.value)}
      </h1>
      {samples > 0 && (
        <div class="samples hush">
          <span>
            {samples === sessions.length ? 'These are samples.' : `${toCount(samples)} of these are samples.`}
          </span>
          <DemoButton wanted="off" words="Remove them" class="button" />
        </div>
      )}
      {waiting.length > 0 && (
        <section aria-label="Waiting for you">
          <SessionLinks sessions={waiting} now={now.value} class="waiting" />
          <a class="button to-board" href={toHash({ kind: 'board' })}>
            Answer on the board
          </a>
        </section>
      )}
      <ThisWeek />
      {recent.length > 0 && (
        <section>
          <h2>Recent sessions</h2>
          <SessionLinks sessions={recent} now={now.value} class="recent" />
        </section>
      )}
      <Notices notices={health.value?.notices ?? []} now={now.value} />
      <Problems problems={problems.value} />
      {health.value !== undefined && <State health={health.value} sessions={sessions} />}
      <p class="tips faint small">
        <kbd>/</kbd> searches every session · <kbd>Ctrl</kbd> <kbd>K</kbd> goes anywhere · <kbd>?</kbd> shows
        all keys
      </p>
    </div>
  )
}

function SessionLinks(props: {
  readonly sessions: readonly SessionSummary[]
  readonly now: number
  readonly class: string
}): VNode {
  const { board } = useShared()
  return (
    <ul class={`session-links ${props.class}`}>
      {props.sessions.map((session) => {
        const [badge] = toBadges(session, board.value.get(session.id))
        return (
          <li key={session.id}>
            <a href={toHash({ kind: 'session', id: session.id })}>
              <span class="cut title">{toTitle(session)}</span>
              <span class="about soft small">
                {badge !== undefined && badge.kind !== 'waiting' && (
                  <span class={`tag ${TAGS[badge.kind]}`} title={badge.hint}>
                    {badge.words}
                  </span>
                )}
                {badge?.kind === 'waiting' && <b>{badge.hint}</b>}
                <span class="cut" title={workdirOf(session)}>
                  {toFolderName(workdirOf(session))}
                </span>
                <time dateTime={session.lastActivityAt} title={toMoment(session.lastActivityAt)}>
                  {toAge(session.lastActivityAt, props.now)}
                </time>
              </span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

const TAGS: Readonly<Record<Badge['kind'], string>> = {
  waiting: 'warn',
  busy: 'live',
  idle: 'good',
  gone: 'bad',
  damaged: 'bad',
  archived: '',
  demo: '',
  elsewhere: '',
}

/** Today and the last seven days in figures. A daemon without an index has none, and then nothing is said. */
function ThisWeek(): VNode | null {
  const { now, throughline } = useShared()
  const today = toDay(now.value)
  const timeZone = useMemo(() => Intl.DateTimeFormat().resolvedOptions().timeZone, [])
  const { answer } = useAnswer(
    () => throughline.usage({ by: 'day', since: moveDay(today, -6), until: today, timeZone }),
    [today],
  )
  if (answer.kind === 'failed') return null
  if (answer.kind === 'waiting') return <div class="ghost welcome-ghost" aria-hidden="true" />
  const { rows, total, complete } = answer.value
  const day = rows.find(({ key }) => key === today)
  return (
    <section class="week" aria-label="Usage">
      <Spent words="Today" spent={day} />
      <Spent words={complete ? 'Last 7 days' : 'Last 7 days, so far'} spent={total} />
    </section>
  )
}

/** In dollars where prices are known, else in tokens. */
function Spent({ words, spent }: { words: string; spent: UsageTotals | undefined }): VNode {
  const tokens = spent === undefined ? 0 : toTokens(spent.usage)
  const isPriced = spent === undefined || spent.messages === 0 || spent.unpricedMessages < spent.messages
  return (
    <a href={toHash({ kind: 'usage' })}>
      <span class="soft small">{words}</span>
      <b>{isPriced ? toMoney(spent?.cost ?? 0) : toAmount(tokens)}</b>
      <span class="soft small">{isPriced ? `${toAmount(tokens)} tokens` : 'tokens'}</span>
    </a>
  )
}

function State({ health, sessions }: { health: Health; sessions: readonly SessionSummary[] }): VNode {
  const { index, archive } = health
  const live = sessions.filter((session) => isLive(session.live)).length
  return (
    <section class="daemon-state soft small">
      <h2>How things are</h2>
      <p>
        {toPlural(sessions.length, 'session')}
        {live > 0 && `, ${toCount(live)} of them open in a terminal`}.
      </p>
      <IndexLine index={index} />
      <p>{toArchiveWords(archive)}</p>
      <p class="faint">Throughline {health.version}</p>
    </section>
  )
}

function toArchiveWords({ enabled, files, goneSessions, bytes }: Health['archive']): string {
  if (!enabled) return 'The archive is off: what agents delete is gone.'
  const kept = `The archive holds ${toPlural(files, 'file')}`
  if (goneSessions === 0) return `${kept}.`
  const only = goneSessions === 1 ? '1 session is' : `${toCount(goneSessions)} sessions are`
  return `${kept}; ${only} only there (${toSize(bytes)}).`
}

function IndexLine({ index }: { index: Health['index'] }): VNode {
  if (index.state === 'none') return <p>There is no index: searches read the transcripts themselves.</p>
  if (index.state === 'failed')
    return <p>The index cannot be used; searches read the transcripts themselves.</p>
  if (index.state === 'complete') {
    return (
      <p>
        Everything is searchable: {toSize(index.bytes.total)} in {toPlural(index.files.total, 'file')}.
      </p>
    )
  }
  return (
    <p>
      <label>
        The index is being built: {toCount(index.files.done)} of {toPlural(index.files.total, 'file')}.
        <progress value={index.bytes.done} max={Math.max(1, index.bytes.total)} />
      </label>
    </p>
  )
}

function toGreeting(now: number): string {
  const hour = new Date(now).getHours()
  if (hour >= 5 && hour < 12) return 'Good morning'
  return hour >= 12 && hour < 18 ? 'Good afternoon' : 'Good evening'
}
