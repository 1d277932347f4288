import { useComputed, useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { toCount, toPlural } from '#render'
import type { Review } from '#wire'
import { useAnswer, type Answer } from '../answer.ts'
import { Icon } from '../icon.tsx'
import { toHash, type Route } from '../route.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { ArtifactsView } from './artifacts-view.tsx'
import { BrowseView } from './browse-view.tsx'
import { toHygiene } from './document-facets.ts'
import { useDocuments, type DocumentStore } from './document-store.ts'
import { RememberDialog } from './remember-dialog.tsx'
import { ReviewView } from './review-view.tsx'
import '../style/parts.css'
import './memory.css'
import './told.css'

const FEW = 500
/** What changes rests for this long before it is looked through again. */
const REST_MS = 250

type Place = Extract<Route, { kind: 'memory' }>

/** Everything that is remembered: to look through, to decide about, and the files that agents made. */
export function MemoryView({ place }: { place: Place }): VNode {
  const { now, throughline } = useShared()
  const store = useDocuments()
  const isAsking = useSignal(false)
  const hygiene = useComputed(() =>
    toHygiene(store.documents.value.values(), Math.max(now.value, Date.now())),
  )
  // Comparing all with all is work: beside the list it is done only where it costs nothing.
  const isAsked = place.show === 'review' || store.documents.value.size <= FEW
  const { answer, again } = useAnswer(
    () => (isAsked ? throughline.memory.review() : Promise.resolve(undefined)),
    [useRest(store), isAsked],
  )
  const review = toReview(answer)
  const found = review.kind === 'there' ? review.value : undefined
  const waiting =
    found === undefined
      ? hygiene.value.held
      : found.held.length + found.contradictions.length + found.duplicates.length + found.stale.length
  const { active, held, expired, pinned } = hygiene.value
  return (
    <div class="view memory">
      <header class="memory-head">
        <h1>Memory</h1>
        <p class="memory-counters" role="status">
          <span>{toCount(active)} in use</span>
          {pinned === 0 ? null : <span>{toCount(pinned)} pinned</span>}
          {held === 0 ? null : <span class="warn">{toCount(held)} held back</span>}
          {found === undefined || found.duplicates.length === 0 ? null : (
            <span>{toPlural(found.duplicates.length, 'possible duplicate')}</span>
          )}
          {expired === 0 ? null : <span>{toCount(expired)} expired</span>}
        </p>
        <button type="button" class="button primary" onClick={() => (isAsking.value = true)}>
          <Icon name="plus" /> Remember something
        </button>
      </header>
      <nav class="memory-tabs" aria-label="Memory">
        <Tab place={place} show={undefined} words="Browse" />
        <Tab place={place} show="review" words="Review" count={waiting} />
        <Tab place={place} show="artifacts" words="Artifacts" />
      </nav>
      {store.trouble.value === undefined ? null : <TroubleNote trouble={store.trouble.value} />}
      {place.show === 'review' ? (
        <ReviewView answer={review} again={again} selected={place.id} />
      ) : place.show === 'artifacts' ? (
        <ArtifactsView selected={place.id} />
      ) : (
        <BrowseView selected={place.id} />
      )}
      {isAsking.value ? (
        <RememberDialog picked={{ text: '' }} onClose={() => (isAsking.value = false)} />
      ) : null}
    </div>
  )
}

/** The answer, as far as it was asked for. */
function toReview(answer: Answer<Review | undefined>): Answer<Review> {
  if (answer.kind !== 'there') return answer
  return answer.value === undefined ? { kind: 'waiting' } : { ...answer, value: answer.value }
}

/** Counts how often what is remembered changed and came to rest: each time, something else may wait for a person. */
function useRest({ documents, isWhole }: DocumentStore): number {
  const count = useSignal(0)
  useEffect(() => {
    if (!isWhole.value) return undefined
    const timer = setTimeout(() => (count.value += 1), REST_MS)
    return () => clearTimeout(timer)
  }, [documents.value, isWhole.value])
  return count.value
}

function Tab(props: { place: Place; show: Place['show']; words: string; count?: number }): VNode {
  const { show } = props
  const isHere = props.place.show === show
  return (
    <a
      href={toHash({ kind: 'memory', ...(show === undefined ? {} : { show }) })}
      aria-current={isHere ? 'page' : undefined}
    >
      {props.words}
      {props.count === undefined || props.count === 0 ? null : (
        <span class="memory-tab-count">{toCount(props.count)}</span>
      )}
    </a>
  )
}
