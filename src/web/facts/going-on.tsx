import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Loss, SessionSummary, Trouble } from '#model'
import { toCount, toPlural } from '#render'
import { NATIVE_AGENTS, type ConvertOutcome, type NativeAgent, type Preflight } from '#wire'
import { toTrouble, useAnswer } from '../answer.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { CopyLine } from './keeping.tsx'

const NAMES: Readonly<Record<NativeAgent, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
}

/** Whether a session can be gone on with as it is, what mends it, what makes room, and how to go on in another agent. */
export function GoingOn({ session }: { session: SessionSummary }): VNode {
  const { throughline } = useShared()
  const preflight = useAnswer(() => throughline.restoring.preflight(session.id), [session.id, session.size])
  return (
    <>
      {preflight.answer.kind === 'waiting' && <p class="soft">Looking…</p>}
      {preflight.answer.kind === 'failed' && (
        <TroubleNote trouble={preflight.answer.trouble} again={preflight.again} />
      )}
      {preflight.answer.kind === 'there' && (
        <>
          <Troubles session={session} preflight={preflight.answer.value} />
          <Room session={session} preflight={preflight.answer.value} again={preflight.again} />
        </>
      )}
      <Elsewhere session={session} />
    </>
  )
}

/** Does something with the session, and says how it went. */
function useDeed(): readonly [isBusy: boolean, act: (deed: () => Promise<string | undefined>) => void] {
  const { say } = useShared()
  const [isBusy, setBusy] = useState(false)
  function act(deed: () => Promise<string | undefined>): void {
    setBusy(true)
    deed()
      .then(
        (words) => words !== undefined && say(words),
        (error: unknown) => {
          const { message, hint } = toTrouble(error)
          say(`${message} ${hint}`)
        },
      )
      .finally(() => setBusy(false))
  }
  return [isBusy, act]
}

function Troubles({ session, preflight }: { session: SessionSummary; preflight: Preflight }): VNode {
  const { throughline, go } = useShared()
  const [isBusy, act] = useDeed()
  const { troubles } = preflight
  if (troubles.length === 0) return <p>Nothing would fail the next request.</p>
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
      <p>{toPlural(troubles.length, 'thing')} would fail the next request:</p>
      <ul class="going-on-list">
        {troubles.slice(0, 20).map((trouble) => (
          <TroubleLine
            key={`${trouble.origin.entryId} ${trouble.origin.index} ${trouble.kind}`}
            {...trouble}
          />
        ))}
      </ul>
      {canMend && (
        <p>
          <button type="button" class="button" disabled={isBusy} onClick={repair}>
            {isBusy ? 'Mending…' : 'Mend it on a copy'}
          </button>{' '}
          <span class="soft small">a new session; this one stays as it is</span>
        </p>
      )}
    </>
  )
}

function TroubleLine({ reason, fix }: Trouble): VNode {
  return (
    <li>
      {reason}. <span class="soft small">{fix}</span>
    </li>
  )
}

function Room(props: { session: SessionSummary; preflight: Preflight; again: () => void }): VNode {
  const { session, preflight, again } = props
  const { throughline } = useShared()
  const [isBusy, act] = useDeed()
  const state = useAnswer(() => throughline.restoring.compactions(session.id), [session.id, preflight])
  const active = state.answer.kind === 'there' ? state.answer.value.active : undefined
  const { tokens, window } = preflight
  function compact(): void {
    act(async () => {
      const record = await throughline.restoring.compact(session.id)
      again()
      return `About ${toCount(record.tokens.before)} tokens before, ${toCount(record.tokens.after)} after.`
    })
  }
  function undo(): void {
    act(async () => {
      await throughline.restoring.undoCompaction(session.id)
      again()
      return 'Taken back: the conversation is what it was.'
    })
  }
  return (
    <>
      <p>
        About {toCount(tokens.context)} of {toCount(window)} tokens are in the window
        {preflight.isFull ? ': it is time to make room.' : '.'}
      </p>
      <p>
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={active === undefined ? compact : undo}
        >
          {active === undefined ? 'Compact it' : 'Take the compaction back'}
        </button>{' '}
        <span class="soft small">
          {active === undefined
            ? 'old turns in a summary, the last ten word by word; kept beside the session, and taken back at any time'
            : active.by === 'trim'
              ? `${toPlural(active.trims.length, 'long piece')} shortened`
              : `${toPlural(active.turns.summarised, 'turn')} summarised, ${active.turns.kept} word by word`}
        </span>
      </p>
    </>
  )
}

function Elsewhere({ session }: { session: SessionSummary }): VNode {
  const { throughline } = useShared()
  const [isBusy, act] = useDeed()
  const [outcome, setOutcome] = useState<ConvertOutcome | undefined>(undefined)
  function convert(to: NativeAgent, dryRun: boolean): void {
    act(async () => {
      setOutcome(await throughline.restoring.convert(session.id, { to, dryRun }))
      return undefined
    })
  }
  return (
    <>
      <p class="going-on-agents" role="group" aria-label="Go on in">
        <span>Go on in</span>
        {NATIVE_AGENTS.map((agent) => (
          <button
            key={agent}
            type="button"
            class="button"
            aria-pressed={outcome?.agent === agent}
            disabled={isBusy}
            onClick={() => convert(agent, true)}
          >
            {NAMES[agent]}
          </button>
        ))}
      </p>
      {outcome !== undefined && (
        <div class="going-on-outcome" aria-live="polite">
          <Losses losses={outcome.losses} />
          {outcome.isWritten ? (
            <dl class="whereabouts">
              <CopyLine
                words="In a terminal"
                text={`cd ${outcome.workdir} && ${outcome.command.join(' ')}`}
              />
            </dl>
          ) : (
            <button
              type="button"
              class="button"
              disabled={isBusy}
              onClick={() => convert(outcome.agent, false)}
            >
              Write it as a session of {NAMES[outcome.agent]}
            </button>
          )}
        </div>
      )}
    </>
  )
}

function Losses({ losses }: { losses: readonly Loss[] }): VNode {
  if (losses.length === 0) return <p>Nothing is lost.</p>
  const counts = new Map<string, number>()
  for (const { kind, why } of losses) counts.set(`${kind}: ${why}`, (counts.get(`${kind}: ${why}`) ?? 0) + 1)
  return (
    <>
      <p>{toPlural(losses.length, 'thing')} would not be carried as they were:</p>
      <ul class="going-on-list">
        {[...counts].slice(0, 20).map(([words, count]) => (
          <li key={words}>
            {words}
            {count > 1 && <span class="soft small"> ({toCount(count)} times)</span>}
          </li>
        ))}
      </ul>
    </>
  )
}
