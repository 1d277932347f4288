import { useSignal } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import type { MemoryDocument } from '#model'
import type { Review } from '#wire'
import type { Answer } from '../answer.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { useAct } from './document-act.ts'
import { ExactContent } from './exact-content.tsx'
import { DocumentCard } from './document-card.tsx'
import { DocumentDetail } from './document-detail.tsx'
import { MergeDialog } from './merge-dialog.tsx'
import { WordDiff } from './word-diff-view.tsx'

interface Props {
  readonly answer: Answer<Review>
  readonly again: () => void
  readonly selected: string | undefined
}

/** What waits for a person, each with what can be done about it, and what is new since the last wake-up. */
export function ReviewView({ answer, again, selected }: Props): VNode {
  if (answer.kind === 'waiting') return <div class="state quiet" role="status" aria-label="Looking" />
  if (answer.kind === 'failed') return <TroubleNote trouble={answer.trouble} again={again} />
  const { held, contradictions, duplicates, stale, fresh } = answer.value
  const isEmpty = held.length + contradictions.length + duplicates.length + stale.length + fresh.length === 0
  return (
    <div class={`memory-columns ${selected === undefined ? '' : 'has-detail'}`}>
      <div class="memory-review">
        {isEmpty ? (
          <p class="hush">Nothing waits for you, and nothing is new since the last wake-up.</p>
        ) : null}
        <Part title="Held back" count={held.length} note="Not told to any session until you approve it.">
          {held.map((document) => (
            <Item key={document.id} document={document} isWhole>
              {(act) => (
                <>
                  <Do words="Approve" isMain run={() => act(document.id, { do: 'approve' }, 'Approved')} />
                  <Do words="Retire" run={() => act(document.id, { do: 'retire' }, 'Retired')} />
                </>
              )}
            </Item>
          ))}
        </Part>
        <Part
          title="Contradictions"
          count={contradictions.length}
          note="Until you decide, sessions are told both sides together."
        >
          {contradictions.map((group) => (
            <Contradiction key={keyOf(group)} group={group} />
          ))}
        </Part>
        <Part title="Possible duplicates" count={duplicates.length} note="They say nearly the same.">
          {duplicates.map((group) => (
            <Duplicates key={keyOf(group)} group={group} />
          ))}
        </Part>
        <Part title="Files changed" count={stale.length} note="What they were learned from is different now.">
          {stale.map((document) => (
            <Item key={document.id} document={document}>
              {(act) => <Do words="Retire" run={() => act(document.id, { do: 'retire' }, 'Retired')} />}
            </Item>
          ))}
        </Part>
        <Part
          title="New since the last wake-up"
          count={fresh.length}
          note="The next session is told of these."
        >
          {fresh.map((document) => (
            <Item key={document.id} document={document}>
              {(act) => (
                <>
                  <Do
                    words={document.pinned ? 'Unpin' : 'Pin'}
                    run={() =>
                      act(
                        document.id,
                        { do: document.pinned ? 'unpin' : 'pin' },
                        document.pinned ? 'No longer pinned' : 'Pinned',
                      )
                    }
                  />
                  <Do words="Retire" run={() => act(document.id, { do: 'retire' }, 'Retired')} />
                </>
              )}
            </Item>
          ))}
        </Part>
      </div>
      {selected === undefined ? null : <DocumentDetail key={selected} id={selected} />}
    </div>
  )
}

type Act = ReturnType<typeof useAct>['act']

function keyOf(group: readonly MemoryDocument[]): string {
  return group.map(({ id }) => id).join(' ')
}

function Part(props: {
  title: string
  count: number
  note: string
  children: ComponentChildren
}): VNode | null {
  if (props.count === 0) return null
  return (
    <section class="memory-part" aria-label={props.title}>
      <h2>
        {props.title} <span class="tally">{props.count}</span>
      </h2>
      <p class="soft small">{props.note}</p>
      {props.children}
    </section>
  )
}

function Do(props: { words: string; isMain?: boolean; run: () => Promise<unknown> }): VNode {
  return (
    <button
      type="button"
      class={props.isMain === true ? 'button primary' : 'button'}
      onClick={() => void props.run()}
    >
      {props.words}
    </button>
  )
}

/** `isWhole`: with all that it says, exactly, because somebody decides by it. */
function Item(props: {
  document: MemoryDocument
  isWhole?: boolean
  children: (act: Act) => ComponentChildren
}): VNode {
  const { act, trouble } = useAct()
  return (
    <div class="memory-item">
      <DocumentCard document={props.document} />
      {props.isWhole === true ? <ExactContent document={props.document} /> : null}
      {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
      <div class="memory-actions">{props.children(act)}</div>
    </div>
  )
}

/** Each of them may be the one that is right; or all of them. */
function Contradiction({ group }: { group: readonly MemoryDocument[] }): VNode {
  const { act, trouble } = useAct()
  const [first, second] = group

  async function keep(right: MemoryDocument): Promise<void> {
    for (const other of group) {
      if (other.id === right.id) continue
      const isDone = await act(other.id, { do: 'supersede', newer: right.id }, 'Decided')
      if (!isDone) return
    }
  }

  async function reconcile(): Promise<void> {
    for (const one of group) {
      for (const other of one.contradicts) {
        if (!(await act(one.id, { do: 'reconcile', with: other }, 'Both hold'))) return
      }
    }
  }

  return (
    <div class="memory-item memory-group">
      {group.map((document) => (
        <div key={document.id} class="memory-side">
          <DocumentCard document={document} />
          <Do words="This one is right" run={() => keep(document)} />
        </div>
      ))}
      {first === undefined || second === undefined ? null : (
        <WordDiff before={first.content} after={second.content} />
      )}
      {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
      <div class="memory-actions">
        <Do words="Both hold" run={reconcile} />
      </div>
    </div>
  )
}

function Duplicates({ group }: { group: readonly MemoryDocument[] }): VNode {
  const isMerging = useSignal(false)
  return (
    <div class="memory-item memory-group">
      {group.map((document) => (
        <DocumentCard key={document.id} document={document} />
      ))}
      <div class="memory-actions">
        <Do
          words="Merge…"
          isMain
          run={() => {
            isMerging.value = true
            return Promise.resolve()
          }}
        />
      </div>
      {isMerging.value ? (
        <MergeDialog
          documents={group}
          onClose={() => (isMerging.value = false)}
          onMerged={() => (isMerging.value = false)}
        />
      ) : null}
    </div>
  )
}
