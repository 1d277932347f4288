import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { DocumentState, MemoryDocument } from '#model'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { copyText } from '../clipboard.ts'
import { useAct } from './document-act.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { SupersedeDialog } from './supersede-dialog.tsx'

interface Props {
  readonly document: MemoryDocument
  readonly state: DocumentState
  readonly onEdit: () => void
}

/** What can be done with a document as it stands. */
/** What a colleague shares counts here once it was approved. */
function Decide({ document: { id }, state }: Pick<Props, 'document' | 'state'>): VNode {
  const { act, trouble } = useAct()
  return (
    <>
      {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
      {state === 'quarantined' ? (
        <button
          type="button"
          class="button primary"
          onClick={() => void act(id, { do: 'approve' }, 'Approved')}
        >
          <Icon name="check" /> Approve
        </button>
      ) : null}
      {state === 'retired' ? (
        <button type="button" class="button" onClick={() => void act(id, { do: 'restore' }, 'Restored')}>
          Restore
        </button>
      ) : (
        <button type="button" class="button" onClick={() => void act(id, { do: 'retire' }, 'Declined')}>
          Decline
        </button>
      )}
    </>
  )
}

export function DocumentActions({ document, state, onEdit }: Props): VNode {
  const { say } = useShared()
  const { act, trouble } = useAct()
  const isSuperseding = useSignal(false)
  const isDeleting = useSignal(false)
  const { id } = document
  // What stands in a transcript, and what is another's, is only read.
  const isRead =
    document.type === 'message' || document.type === 'artifact' || document.elsewhere?.mine === false
  const isOver = state === 'retired' || state === 'superseded'

  function copy(): void {
    copyText(document.content).then(
      () => say('Copied'),
      () => say('The browser did not allow copying.'),
    )
  }

  if (isRead) {
    return (
      <div class="memory-actions">
        {document.elsewhere?.mine === false ? <Decide document={document} state={state} /> : null}
        <button type="button" class="button quiet" onClick={copy}>
          <Icon name="copy" /> Copy
        </button>
      </div>
    )
  }
  return (
    <>
      {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
      <div class="memory-actions">
        {state === 'quarantined' ? (
          <button
            type="button"
            class="button primary"
            onClick={() => void act(id, { do: 'approve' }, 'Approved')}
          >
            <Icon name="check" /> Approve
          </button>
        ) : null}
        <button type="button" class="button" onClick={onEdit}>
          <Icon name="pencil" /> Edit
        </button>
        <button
          type="button"
          class="button"
          aria-pressed={document.pinned}
          onClick={() =>
            void act(
              id,
              { do: document.pinned ? 'unpin' : 'pin' },
              document.pinned ? 'No longer pinned' : 'Pinned: new sessions are told it first',
            )
          }
        >
          <Icon name="star" filled={document.pinned} /> {document.pinned ? 'Unpin' : 'Pin'}
        </button>
        {isOver ? (
          <>
            <button type="button" class="button" onClick={() => void act(id, { do: 'restore' }, 'Restored')}>
              Restore
            </button>
            <button type="button" class="button" onClick={() => (isDeleting.value = true)}>
              Delete…
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              class="button"
              onClick={() => void act(id, { do: 'retire' }, 'Retired. It can be restored at any time.')}
            >
              Retire
            </button>
            <button
              type="button"
              class="button"
              onClick={() =>
                void (state === 'expired'
                  ? act(id, { do: 'expire' }, 'It holds again, for ever')
                  : act(id, { do: 'expire', at: new Date().toISOString() }, 'It has expired'))
              }
            >
              {state === 'expired' ? 'Renew' : 'Expire now'}
            </button>
            <button type="button" class="button" onClick={() => (isSuperseding.value = true)}>
              Supersede…
            </button>
          </>
        )}
        <button type="button" class="button quiet" onClick={copy}>
          <Icon name="copy" /> Copy
        </button>
      </div>
      {isDeleting.value ? (
        <DeleteDialog document={document} onClose={() => (isDeleting.value = false)} />
      ) : null}
      {isSuperseding.value ? (
        <SupersedeDialog document={document} onClose={() => (isSuperseding.value = false)} />
      ) : null}
    </>
  )
}
