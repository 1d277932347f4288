import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { MemoryDocument } from '#model'
import { safeText, toCount } from '#render'
import { Icon } from '../icon.tsx'
import { Sheet } from '../palette/sheet.tsx'
import { TroubleNote } from '../trouble-note.tsx'
import { useAct } from './document-act.ts'
import { toAuthor } from './document-words.ts'
import '../live/start-dialog.css'

interface Props {
  readonly documents: readonly MemoryDocument[]
  readonly onClose: () => void
  readonly onMerged: () => void
}

/** Makes one document of several. The one that stays is chosen, and its text can be written anew. */
export function MergeDialog({ documents, onClose, onMerged }: Props): VNode | null {
  const [first] = documents
  const stays = useSignal(first?.id ?? '')
  const content = useSignal(first?.content ?? '')
  const { act, trouble } = useAct()

  function choose(document: MemoryDocument): void {
    const before = documents.find(({ id }) => id === stays.value)
    // What a person has written stays.
    if (content.value === before?.content) content.value = document.content
    stays.value = document.id
  }

  async function merge(): Promise<void> {
    const others = documents.map(({ id }) => id).filter((id) => id !== stays.value)
    if (content.value.trim() === '') return
    const action = { do: 'merge' as const, others, content: content.value.trim() }
    if (await act(stays.value, action, `${toCount(documents.length)} documents are one now`)) onMerged()
  }

  return (
    <Sheet label="Merge" class="memory-sheet start-dialog" onClose={onClose}>
      <header class="start-head">
        <h2>Merge {toCount(documents.length)} documents</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <form
        class="start-form"
        onSubmit={(event) => {
          event.preventDefault()
          void merge()
        }}
      >
        <div class="start-fields" tabIndex={-1}>
          <fieldset class="field memory-merge">
            <legend>This one stays</legend>
            {documents.map((document) => (
              <label key={document.id}>
                <input
                  type="radio"
                  name="stays"
                  checked={document.id === stays.value}
                  onChange={() => choose(document)}
                />
                <span>
                  <span class="memory-text">{safeText(document.content)}</span>
                  <span class="soft small">{toAuthor(document)}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <label class="field">
            <span>And says</span>
            <textarea
              rows={5}
              dir="auto"
              value={content.value}
              onInput={(event) => (content.value = event.currentTarget.value)}
            />
          </label>
          <p class="soft small">The others are superseded by it. Their texts stay in the history.</p>
          {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
        </div>
        <footer class="start-foot">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={content.value.trim() === ''}>
            Merge
          </button>
        </footer>
      </form>
    </Sheet>
  )
}
