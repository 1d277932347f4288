import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import {
  toDocumentState,
  toPromotedId,
  type Directive,
  type DirectiveNotice,
  type MemoryDocument,
} from '#model'
import { safeLine } from '#render'
import { useDocuments } from './document-store.ts'
import { DIRECTIVE_DONE, DIRECTIVE_TYPES, toFirstWords } from './document-words.ts'
import { usePresent } from './present.ts'
import { ToldSheet } from './told-sheet.tsx'
import './told.css'

/** Where a text stands: the entry that said it first, and which of its blocks it is. */
export interface ToldPlace {
  readonly entryId: string
  readonly block: number
}

/** How what an agent asked for stands. */
export type ToldState = 'kept' | 'held' | 'known' | 'ended' | 'pending'

/** The sign in the place of a directive. It tells what became of it, and opens what was kept. */
export function ToldChip(props: { directive: Directive; place: ToldPlace | undefined; raw: string }): VNode {
  const { directive, place } = props
  const store = useDocuments()
  const isOpen = useSignal(false)
  const document = findKept(store, directive, place)
  const state = stateOf({ document, directive, place, now: usePresent() })
  const words = `${wordsOf(state, directive)}: ${toFirstWords(document?.content ?? directive.content)}`
  return (
    <>
      <button
        type="button"
        class={`told told-${state}`}
        aria-haspopup="dialog"
        title={words}
        onClick={() => (isOpen.value = true)}
      >
        <span aria-hidden="true" class="told-sign">
          {state === 'held' ? '◇' : '◆'}
        </span>
        <span class="told-words">{words}</span>
      </button>
      {isOpen.value ? (
        <ToldSheet
          directive={directive}
          document={document}
          state={state}
          raw={props.raw}
          onClose={() => (isOpen.value = false)}
        />
      ) : null}
    </>
  )
}

/** Says beside the text itself what was wrong with a directive. */
export function ToldNotice({ notice }: { notice: DirectiveNotice }): VNode {
  return (
    <span class="told told-broken" role="note">
      <span aria-hidden="true" class="told-sign">
        ◇
      </span>
      <span class="told-words">Not remembered: {safeLine(notice.reason)}</span>
    </span>
  )
}

function findKept(
  store: ReturnType<typeof useDocuments>,
  { kind, start }: Directive,
  place: ToldPlace | undefined,
): MemoryDocument | undefined {
  if (place === undefined) return undefined
  const at = { ...place, position: start }
  return store.documents.value.get(toPromotedId(DIRECTIVE_TYPES[kind], at)) ?? store.findAt(at)
}

function stateOf(of: {
  readonly document: MemoryDocument | undefined
  readonly directive: Directive
  readonly place: ToldPlace | undefined
  readonly now: number
}): ToldState {
  const { document, directive, place } = of
  if (document === undefined || place === undefined) return 'pending'
  const state = toDocumentState(document, of.now)
  if (state === 'quarantined') return 'held'
  if (state !== 'active') return 'ended'
  const own = toPromotedId(DIRECTIVE_TYPES[directive.kind], { ...place, position: directive.start })
  const { provenance } = document
  const isOwn =
    document.id === own || (provenance?.entryId === place.entryId && provenance.position === directive.start)
  return isOwn ? 'kept' : 'known'
}

function wordsOf(state: ToldState, { kind }: Directive): string {
  switch (state) {
    case 'kept':
      return DIRECTIVE_DONE[kind]
    case 'pending':
      return kind === 'remember' ? 'To be remembered' : kind === 'marker' ? 'To be marked' : 'To be taught'
    case 'held':
      return 'Held back'
    case 'known':
      return 'Known'
    case 'ended':
      return 'Remembered before'
  }
}
