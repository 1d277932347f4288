import { useComputed, useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { toCount, toPlural } from '#render'
import { DocumentCard } from './document-card.tsx'
import { DocumentDetail } from './document-detail.tsx'
import { findFitting, NO_FACETS, type Facets } from './document-facets.ts'
import { useDocuments } from './document-store.ts'
import { FacetRow } from './facet-row.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { useShared } from '../shared.ts'

/** So many are shown at once; more on asking. */
const STEP = 60

/** What was narrowed to stays while one looks at something else. */
let kept: Facets = NO_FACETS

/** The list, narrowed by facets, and beside it the document that was chosen. */
export function BrowseView({ selected }: { selected: string | undefined }): VNode {
  const { now } = useShared()
  const store = useDocuments()
  const facets = useSignal<Facets>(kept)
  const shown = useSignal(STEP)
  const isChoosing = useSignal(false)
  const picked = useSignal<ReadonlySet<string>>(new Set())
  const isMerging = useSignal(false)
  const found = useComputed(() =>
    findFitting(store.documents.value.values(), facets.value, Math.max(now.value, Date.now())),
  )
  const all = useComputed(() => [...store.documents.value.values()]).value

  function change(part: Partial<Facets>): void {
    kept = { ...facets.value, ...part }
    facets.value = kept
    shown.value = STEP
  }

  function pick(id: string, isPicked: boolean): void {
    const next = new Set(picked.value)
    if (isPicked) next.add(id)
    else next.delete(id)
    picked.value = next
  }

  function endChoosing(): void {
    isChoosing.value = false
    picked.value = new Set()
  }

  if (store.isWhole.value && all.length === 0 && selected === undefined) return <Nothing />
  const chosen = found.value.filter(({ id }) => picked.value.has(id))
  return (
    <div class={`memory-columns ${selected === undefined ? '' : 'has-detail'}`}>
      <section class="memory-list" aria-label="Documents">
        <FacetRow documents={all} facets={facets.value} onChange={change} />
        <div class="memory-list-bar">
          <span role="status">
            {store.isWhole.value ? toPlural(found.value.length, 'document') : 'Looking…'}
          </span>
          {isChoosing.value ? (
            <>
              <button
                type="button"
                class="button primary"
                disabled={chosen.length < 2}
                onClick={() => (isMerging.value = true)}
              >
                Merge {chosen.length < 2 ? '' : toCount(chosen.length)}
              </button>
              <button type="button" class="button quiet" onClick={endChoosing}>
                Cancel
              </button>
            </>
          ) : found.value.length < 2 ? null : (
            <button type="button" class="button quiet" onClick={() => (isChoosing.value = true)}>
              Choose several…
            </button>
          )}
        </div>
        <ul>
          {found.value.slice(0, shown.value).map((document) => (
            <li key={document.id}>
              <DocumentCard
                document={document}
                isCurrent={document.id === selected}
                isPicked={picked.value.has(document.id)}
                onPick={isChoosing.value ? (isPicked) => pick(document.id, isPicked) : undefined}
              />
            </li>
          ))}
        </ul>
        {found.value.length <= shown.value ? null : (
          <button type="button" class="button" onClick={() => (shown.value += STEP)}>
            Show more
          </button>
        )}
        {store.isWhole.value && found.value.length === 0 ? (
          <p class="hush">Nothing that is remembered fits.</p>
        ) : null}
      </section>
      {selected === undefined ? null : <DocumentDetail key={selected} id={selected} />}
      {isMerging.value ? (
        <MergeDialog
          documents={chosen}
          onClose={() => (isMerging.value = false)}
          onMerged={() => {
            isMerging.value = false
            endChoosing()
          }}
        />
      ) : null}
    </div>
  )
}

function Nothing(): VNode {
  return (
    <div class="state memory-nothing">
      <p class="memory-nothing-sign" aria-hidden="true">
        ◆
      </p>
      <h2>Nothing is remembered yet</h2>
      <p>
        Agents keep what they learned by saying <code>[REMEMBER] {'{"content": "…"}'}</code>; you keep what
        you like with <b>Remember</b> on any message. New sessions in the same folder begin with it.
      </p>
    </div>
  )
}
