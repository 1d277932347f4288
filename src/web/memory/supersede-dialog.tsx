import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { MemoryDocument } from '#model'
import { safeText } from '#render'
import { Icon } from '../icon.tsx'
import { Sheet } from '../palette/sheet.tsx'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { useAct } from './document-act.ts'
import { findFitting, NO_FACETS } from './document-facets.ts'
import { useDocuments } from './document-store.ts'
import { toFirstWords } from './document-words.ts'

const MOST = 12

/** Which document stands for this one from now on. */
export function SupersedeDialog({
  document,
  onClose,
}: {
  document: MemoryDocument
  onClose: () => void
}): VNode {
  const { now } = useShared()
  const store = useDocuments()
  const text = useSignal('')
  const { act, trouble } = useAct()
  const others = findFitting(
    store.documents.value.values(),
    { ...NO_FACETS, text: text.value, type: document.type, state: 'active' },
    now.value,
  ).filter(({ id }) => id !== document.id)

  async function choose(newer: string): Promise<void> {
    if (await act(document.id, { do: 'supersede', newer }, 'Superseded')) onClose()
  }

  return (
    <Sheet label="Supersede" class="memory-sheet" onClose={onClose}>
      <header class="memory-sheet-head">
        <h2>What stands for it from now on?</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="memory-sheet-body" tabIndex={-1}>
        <p class="memory-text soft">{safeText(document.content.slice(0, 400))}</p>
        <div class="memory-search">
          <Icon name="search" />
          <input
            type="search"
            autofocus
            placeholder="Search for the newer one"
            aria-label="Search for the newer one"
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </div>
        {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
        <ul class="memory-choices">
          {others.slice(0, MOST).map(({ id, content }) => (
            <li key={id}>
              <button type="button" onClick={() => void choose(id)}>
                {toFirstWords(content, 140)}
              </button>
            </li>
          ))}
        </ul>
        {others.length === 0 ? <p class="hush">Nothing else fits. Remember the newer one first.</p> : null}
      </div>
    </Sheet>
  )
}
