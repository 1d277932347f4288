import type { VNode } from 'preact'
import { toDocumentState, type Directive, type MemoryDocument } from '#model'
import { toMoment } from '../age.ts'
import { useSignal } from '@preact/signals'
import { toTrouble, type Trouble } from '../answer.ts'
import { Icon } from '../icon.tsx'
import { Words } from '../message/words.tsx'
import { Sheet } from '../palette/sheet.tsx'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { DocumentEdit } from './document-edit.tsx'
import {
  CATEGORY_NAMES,
  STATE_NAMES,
  STATE_TONES,
  TYPE_NAMES,
  toAuthor,
  toHeldWords,
} from './document-words.ts'
import { usePresent } from './present.ts'
import { TagList } from './tag-list.tsx'
import type { ToldState } from './told-chip.tsx'
import './memory.css'

interface Props {
  readonly directive: Directive
  readonly document: MemoryDocument | undefined
  readonly state: ToldState
  readonly raw: string
  readonly onClose: () => void
}

/** What became of a directive: what was kept and how it stands now, what can be done with it, what the agent wrote. */
export function ToldSheet({ directive, document, state, raw, onClose }: Props): VNode {
  const isEditing = useSignal(false)
  return (
    <Sheet label="What was remembered" class="memory-sheet" onClose={onClose}>
      <header class="memory-sheet-head">
        <h2>
          <span aria-hidden="true" class="told-sign">
            ◆
          </span>{' '}
          {document === undefined ? 'Said, and not kept yet' : TYPE_NAMES[document.type]}
        </h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="memory-sheet-body" tabIndex={-1}>
        {document === undefined ? (
          <>
            <Words text={directive.content} marks={[]} />
            <p class="soft small">It is kept once the agent has written its reply down.</p>
          </>
        ) : isEditing.value ? (
          <DocumentEdit document={document} onDone={() => (isEditing.value = false)} />
        ) : (
          <Kept
            document={document}
            isKnown={state === 'known'}
            onEdit={() => (isEditing.value = true)}
            onClose={onClose}
          />
        )}
        <details class="memory-raw">
          <summary>As the agent wrote it</summary>
          <pre tabIndex={0}>{raw}</pre>
        </details>
      </div>
    </Sheet>
  )
}

function Kept(props: {
  document: MemoryDocument
  isKnown: boolean
  onEdit: () => void
  onClose: () => void
}): VNode {
  const { document } = props
  const { throughline, say } = useShared()
  const trouble = useSignal<Trouble | undefined>(undefined)
  const state = toDocumentState(document, usePresent())

  async function run(action: 'retire' | 'restore' | 'approve', words: string): Promise<void> {
    try {
      await throughline.memory.act(document.id, { do: action })
      trouble.value = undefined
      say(words)
    } catch (error) {
      trouble.value = toTrouble(error)
    }
  }

  return (
    <>
      <Words text={document.content} marks={[]} />
      <p class="memory-facts">
        <span class={`tag ${STATE_TONES[state]}`}>{STATE_NAMES[state]}</span>
        <span class="tag">{CATEGORY_NAMES[document.category]}</span>
        {document.pinned ? <span class="tag">Pinned</span> : null}
        <TagList tags={document.tags} />
      </p>
      {document.quarantine === undefined ? null : (
        <p class="memory-held">
          <Icon name="warning" /> {toHeldWords(document.quarantine)}
        </p>
      )}
      <p class="soft small">
        {props.isKnown ? 'Already remembered; this confirms it. Written down ' : 'Written down '}
        by {toAuthor(document)}, {toMoment(document.createdAt)}
      </p>
      {trouble.value === undefined ? null : <TroubleNote trouble={trouble.value} />}
      <div class="memory-actions">
        <button type="button" class="button" onClick={props.onEdit}>
          <Icon name="pencil" /> Edit
        </button>
        {state === 'quarantined' ? (
          <button type="button" class="button" onClick={() => void run('approve', 'Approved')}>
            <Icon name="check" /> Approve
          </button>
        ) : null}
        {state === 'retired' ? (
          <button type="button" class="button" onClick={() => void run('restore', 'Restored')}>
            Restore
          </button>
        ) : (
          <button
            type="button"
            class="button"
            onClick={() => void run('retire', 'Retired. It can be restored on the memory page.')}
          >
            Retire
          </button>
        )}
        <a class="button" href={toHash({ kind: 'memory', id: document.id })} onClick={props.onClose}>
          Open in memory
        </a>
      </div>
    </>
  )
}
