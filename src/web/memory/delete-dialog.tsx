import type { VNode } from 'preact'
import type { MemoryDocument } from '#model'
import { safeText } from '#render'
import { Icon } from '../icon.tsx'
import { Sheet } from '../palette/sheet.tsx'
import { TroubleNote } from '../trouble-note.tsx'
import { useAct } from './document-act.ts'

/** Asks before a document is deleted: nothing brings it back. */
export function DeleteDialog({
  document,
  onClose,
}: {
  document: MemoryDocument
  onClose: () => void
}): VNode {
  const { act, trouble } = useAct()

  async function erase(): Promise<void> {
    if (await act(document.id, { do: 'delete' }, 'Deleted')) onClose()
  }

  return (
    <Sheet label="Delete" class="memory-sheet" onClose={onClose}>
      <header class="memory-sheet-head">
        <h2>Delete permanently?</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="memory-sheet-body" tabIndex={-1}>
        <p class="memory-text soft">{safeText(document.content.slice(0, 400))}</p>
        <p>
          The document and its history are removed for good. Sessions that were told of it keep their text.
        </p>
        {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
      </div>
      <footer class="start-foot memory-answers">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button danger" onClick={() => void erase()}>
          Delete permanently
        </button>
      </footer>
    </Sheet>
  )
}
