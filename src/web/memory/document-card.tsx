import type { VNode } from 'preact'
import { toDocumentState, type MemoryDocument } from '#model'
import { safeLine } from '#render'
import { toAge, toMoment } from '../age.ts'
import { Icon } from '../icon.tsx'
import { toHash } from '../route.ts'
import { toFolderName } from '../folder-names.ts'
import { useShared } from '../shared.ts'
import {
  CATEGORY_NAMES,
  STATE_NAMES,
  SCOPE_NAMES,
  STATE_TONES,
  TYPE_NAMES,
  toAuthor,
  toFirstWords,
  toHeldWords,
} from './document-words.ts'
import { usePresent } from './present.ts'
import { TagList } from './tag-list.tsx'

interface Props {
  readonly document: MemoryDocument
  readonly isCurrent?: boolean
  /** Where it can be chosen together with others. */
  readonly onPick?: ((isPicked: boolean) => void) | undefined
  readonly isPicked?: boolean
}

/** One document in a list. */
export function DocumentCard({ document, isCurrent = false, onPick, isPicked = false }: Props): VNode {
  const { now, route } = useShared()
  const state = toDocumentState(document, usePresent())
  const words = toFirstWords(document.content, 320)
  const place = route.value
  const show = place.kind === 'memory' && place.show !== undefined ? { show: place.show } : {}
  return (
    <article class={`memory-card ${state} ${isCurrent ? 'current' : ''}`}>
      {onPick === undefined ? null : (
        <input
          type="checkbox"
          aria-label={`Choose: ${toFirstWords(document.content, 60)}`}
          checked={isPicked}
          onChange={(event) => onPick(event.currentTarget.checked)}
        />
      )}
      <div class="memory-card-body">
        <a
          class="memory-card-words"
          href={toHash({ kind: 'memory', id: document.id, ...show })}
          aria-current={isCurrent ? 'true' : undefined}
          dir="auto"
        >
          {words === '' ? 'Empty' : words}
        </a>
        <p class="memory-card-facts">
          {document.pinned ? (
            <span class="tag live">
              <Icon name="star" filled /> Pinned
            </span>
          ) : null}
          {state === 'active' ? null : <span class={`tag ${STATE_TONES[state]}`}>{STATE_NAMES[state]}</span>}
          {document.contradicts.length === 0 ? null : <span class="tag bad">Contradicted</span>}
          {document.type === 'learning' ? null : <span class="tag">{TYPE_NAMES[document.type]}</span>}
          <span>{CATEGORY_NAMES[document.category]}</span>
          <TagList tags={document.tags.slice(0, 6)} />
          {document.workdir === undefined ? null : (
            <span title={safeLine(document.workdir)}>{safeLine(toFolderName(document.workdir))}</span>
          )}
          {document.scope === undefined ? null : <span class="tag">{SCOPE_NAMES[document.scope]}</span>}
          {document.conflict === undefined ? null : <span class="tag bad">Changed on two machines</span>}
          <span>{toAuthor(document)}</span>
          <time dateTime={document.updatedAt} title={toMoment(document.updatedAt)}>
            {toAge(document.updatedAt, now.value)}
          </time>
        </p>
        {document.quarantine === undefined ? null : (
          <p class="memory-card-reason">{toHeldWords(document.quarantine)}</p>
        )}
      </div>
    </article>
  )
}
