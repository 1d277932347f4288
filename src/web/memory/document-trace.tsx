import type { VNode } from 'preact'
import type { MemoryDocument, Provenance } from '#model'
import { safeLine, toPlural } from '#render'
import type { BoundFile } from '#wire'
import { toMoment } from '../age.ts'
import { useAnswer } from '../answer.ts'
import { toHash } from '../route.ts'
import { toTitle } from '../session-groups.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'

/** Where a document came from, where it was said again, which wake-ups carried it, and how its files stand. */
export function DocumentTraceView({ document }: { document: MemoryDocument }): VNode {
  const { throughline, sessions } = useShared()
  const { answer } = useAnswer(() => throughline.memory.trace(document.id), [document.id, document])
  const nameOf = (id: string): string => {
    const session = sessions.value?.find((one) => one.id === id)
    return session === undefined ? `session ${id.slice(0, 8)}` : toTitle(session)
  }
  const trace = answer.kind === 'there' ? answer.value : undefined
  const { provenance, confirmations } = document
  const source = provenance ?? toSource(document)
  return (
    <div class="memory-trace">
      <section aria-label="Where it came from">
        <h2>Where it came from</h2>
        {source === undefined ? (
          <p class="soft">It was written down by itself, outside of a session.</p>
        ) : (
          <ul>
            <li>
              <PlaceLink place={source} words={nameOf(source.sessionId)} />
            </li>
            {confirmations.map((place) => (
              <li key={`${place.entryId} ${place.position}`}>
                <PlaceLink place={place} words={nameOf(place.sessionId)} />{' '}
                <span class="soft">said again</span>
              </li>
            ))}
          </ul>
        )}
      </section>
      {answer.kind === 'failed' ? <TroubleNote trouble={answer.trouble} /> : null}
      {trace === undefined || trace.files.length === 0 ? null : (
        <section aria-label="Files">
          <h2>Files it was learned from</h2>
          <ul>
            {trace.files.map(({ path, state }) => (
              <li key={path}>
                <code class="memory-path">{safeLine(path)}</code>{' '}
                <span class={`tag ${FILE_TONES[state]}`}>{FILE_STATES[state]}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {trace === undefined ? null : (
        <section aria-label="Wake-ups">
          <h2>
            Carried by{' '}
            <span class="tally">
              {trace.carried.length === 0 ? 'no wake-up yet' : toPlural(trace.carried.length, 'wake-up')}
            </span>
          </h2>
          <ul>
            {trace.carried.slice(0, MOST).map(({ sessionId, at, form }) => (
              <li key={`${sessionId} ${at}`}>
                <a href={toHash({ kind: 'session', id: sessionId })}>{nameOf(sessionId)}</a>{' '}
                <span class="soft">
                  {toMoment(at)}
                  {form === 'short' ? ', shortened' : ''}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

const MOST = 30

const FILE_STATES: Readonly<Record<BoundFile['state'], string>> = {
  same: 'as it was',
  changed: 'has changed since',
  gone: 'is gone',
}
const FILE_TONES: Readonly<Record<BoundFile['state'], string>> = {
  same: 'good',
  changed: 'warn',
  gone: 'bad',
}

function PlaceLink({
  place,
  words,
}: {
  place: Pick<Provenance, 'sessionId' | 'entryId'>
  words: string
}): VNode {
  const { sessionId, entryId } = place
  const href = toHash({ kind: 'session', id: sessionId, ...(entryId === '' ? {} : { entry: entryId }) })
  return <a href={href}>{safeLine(words)}</a>
}

/** Documents that came from elsewhere name their session and message in their own way. */
function toSource({
  sourceSessionId,
  sourceMessageId,
}: MemoryDocument): Pick<Provenance, 'sessionId' | 'entryId'> | undefined {
  return sourceSessionId === undefined
    ? undefined
    : { sessionId: sourceSessionId, entryId: sourceMessageId ?? '' }
}
