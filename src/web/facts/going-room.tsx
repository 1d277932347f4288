import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { CompactionRecord, SessionSummary } from '#model'
import { toCount, toPlural } from '#render'
import type { Preflight } from '#wire'
import { useAnswer } from '../answer.ts'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { useDeed } from './deed.ts'

/** How full the window is, and what makes room in it: on record, beside the session, and taken back at any time. */
export function GoingRoom(props: {
  session: SessionSummary
  preflight: Preflight
  again: () => void
}): VNode {
  const { session, preflight, again } = props
  const { throughline } = useShared()
  const [isBusy, act] = useDeed()
  const state = useAnswer(() => throughline.restoring.compactions(session.id), [session.id, preflight])
  const active = state.answer.kind === 'there' ? state.answer.value.active : undefined
  const { tokens, window, isFull } = preflight
  const share = Math.min(100, Math.round((tokens.context / window) * 100))
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
      {active === undefined || isFull ? (
        <p>
          About {toCount(tokens.context)} of {toCount(window)} tokens, {share} %
          {isFull ? ': it is time to make room.' : '.'}
        </p>
      ) : (
        <p>
          The conversation takes about {toCount(tokens.context)} tokens now, beside what the agent says of
          itself.
        </p>
      )}
      {active !== undefined && <Compacted session={session} record={active} />}
      <button type="button" class="button" disabled={isBusy} onClick={active === undefined ? compact : undo}>
        {active === undefined ? 'Compact it' : 'Take the compaction back'}
      </button>
      <p class="soft small">
        {active === undefined
          ? 'Old turns go into a summary, the last ten stay word by word. Kept beside the session, which is not changed, and taken back at any time.'
          : 'It counts when the session is written for an agent below, and when it is restored.'}
      </p>
    </>
  )
}

const SHOWN = 20
const TURN = /^(?:### )?Turn (?<number>\d+) \(entry (?<entry>[^)\s]+)\)(?<rest>.*)$/u

/** What a compaction says instead, with a way to each turn and each piece in full. */
function Compacted({ session, record }: { session: SessionSummary; record: CompactionRecord }): VNode {
  const { turns, trims, text, by } = record
  const [isAll, setAll] = useState(false)
  const lines = text.split('\n')
  const inFull = (entry: string): string => toHash({ kind: 'session', id: session.id, entry })
  return (
    <details>
      <summary>
        {by === 'trim'
          ? `${toPlural(trims.length, 'long piece')} shortened`
          : `${toPlural(turns.summarised, 'turn')} summarised, ${turns.kept} word by word`}
      </summary>
      {text !== '' && (
        <div class="going-summary" tabIndex={0} role="region" aria-label="Summary">
          {lines.map((line, at) => {
            const turn = TURN.exec(line)?.groups
            if (line.startsWith('## ')) return <h4 key={at}>{line.slice(3)}</h4>
            if (turn === undefined) return <p key={at}>{line}</p>
            return (
              <p key={at}>
                <a href={inFull(turn['entry'] ?? '')}>Turn {turn['number']}, in full</a>
                {turn['rest']}
              </p>
            )
          })}
        </div>
      )}
      {trims.length > 0 && (
        <ul>
          {trims.slice(0, isAll ? trims.length : SHOWN).map(({ origin, what, left }) => (
            <li key={`${origin.entryId} ${origin.index} ${what}`}>
              <a href={inFull(origin.entryId)}>{WHAT[what]}, in full</a>
              <span class="soft small">{toCount(left)} characters left out</span>
            </li>
          ))}
        </ul>
      )}
      {trims.length > SHOWN && !isAll && (
        <button type="button" class="button quiet" onClick={() => setAll(true)}>
          All {trims.length}
        </button>
      )}
    </details>
  )
}

const WHAT: Readonly<Record<CompactionRecord['trims'][number]['what'], string>> = {
  output: 'A long result',
  media: 'A picture',
  body: 'What was written, and written again later',
}
