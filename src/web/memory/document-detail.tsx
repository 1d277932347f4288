import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { toDocumentState, type MemoryDocument } from '#model'
import { safeLine } from '#render'
import { toMoment } from '../age.ts'
import { useAnswer } from '../answer.ts'
import { Icon } from '../icon.tsx'
import { Words } from '../message/words.tsx'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { ExactContent } from './exact-content.tsx'
import { DocumentActions } from './document-actions.tsx'
import { DocumentEdit } from './document-edit.tsx'
import { DocumentHistory } from './document-history.tsx'
import { DocumentSharing } from './document-sharing.tsx'
import { useDocuments } from './document-store.ts'
import { DocumentTraceView } from './document-trace.tsx'
import {
  CATEGORY_NAMES,
  STATE_NAMES,
  STATE_TONES,
  TYPE_NAMES,
  toAuthor,
  toFirstWords,
  toHeldWords,
} from './document-words.ts'
import { usePresent } from './present.ts'
import { TagList } from './tag-list.tsx'

/** One document: what it says, how it stands, where it is from, what became of it. */
export function DocumentDetail({ id }: { id: string }): VNode {
  const { throughline, route, go } = useShared()
  const store = useDocuments()
  const followed = store.documents.value.get(id)
  const isEditing = useSignal(false)
  const box = useRef<HTMLElement>(null)
  // What is not followed, an imported message or one that is new this moment, is asked for.
  const { answer } = useAnswer(
    () => (followed === undefined ? throughline.memory.get(id) : Promise.resolve(followed)),
    [id, followed === undefined],
  )
  const document = followed ?? (answer.kind === 'there' ? answer.value : undefined)
  useEffect(() => box.current?.focus({ preventScroll: false }), [id])
  const place = route.value
  const show = place.kind === 'memory' && place.show !== undefined ? { show: place.show } : {}
  const close = (): void => go({ kind: 'memory', ...show })
  return (
    <section
      class="memory-detail"
      aria-label="Document"
      ref={box}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !isEditing.value && !event.defaultPrevented) close()
      }}
    >
      <header class="memory-detail-head">
        <a class="button quiet" href={toHash({ kind: 'memory', ...show })}>
          <Icon name="cross" /> Close
        </a>
        {document === undefined ? null : <span class="soft small">{TYPE_NAMES[document.type]}</span>}
      </header>
      {document === undefined ? (
        answer.kind === 'failed' ? (
          <TroubleNote trouble={answer.trouble} />
        ) : (
          <div class="state quiet" role="status" aria-label="Loading the document" />
        )
      ) : (
        <Shown document={document} isEditing={isEditing.value} onEdit={(on) => (isEditing.value = on)} />
      )}
    </section>
  )
}

function Shown(props: {
  document: MemoryDocument
  isEditing: boolean
  onEdit: (isEditing: boolean) => void
}): VNode {
  const { document } = props
  const state = toDocumentState(document, usePresent())
  return (
    <>
      {props.isEditing ? (
        <DocumentEdit document={document} onDone={() => props.onEdit(false)} />
      ) : (
        <>
          {state === 'quarantined' ? (
            <ExactContent document={document} />
          ) : (
            <Words text={document.content} marks={NO_MARKS} />
          )}
          <p class="memory-facts">
            <span class={`tag ${STATE_TONES[state]}`}>{STATE_NAMES[state]}</span>
            {document.pinned ? (
              <span class="tag live">
                <Icon name="star" filled /> Pinned
              </span>
            ) : null}
            <span class="tag">{CATEGORY_NAMES[document.category]}</span>
            <TagList tags={document.tags} />
          </p>
          <Standing document={document} />
          <DocumentActions document={document} state={state} onEdit={() => props.onEdit(true)} />
        </>
      )}
      <DocumentSharing document={document} />
      <Facts document={document} />
      <DocumentTraceView document={document} />
      <DocumentHistory document={document} />
    </>
  )
}

const NO_MARKS: readonly string[] = []

/** Why it counts only in part, or not at all. */
function Standing({ document }: { document: MemoryDocument }): VNode {
  const { documents } = useDocuments()
  const { quarantine, supersededBy, contradicts } = document
  return (
    <>
      {quarantine === undefined ? null : (
        <p class="memory-held">
          <Icon name="warning" /> {toHeldWords(quarantine)}
        </p>
      )}
      {supersededBy === undefined ? null : (
        <p class="hush">
          Superseded by{' '}
          <a href={toHash({ kind: 'memory', id: supersededBy })}>
            {toFirstWords(documents.value.get(supersededBy)?.content ?? supersededBy, 70)}
          </a>
        </p>
      )}
      {contradicts.map((other) => (
        <p key={other} class="memory-held">
          <Icon name="warning" />
          <span>
            Contradicted by{' '}
            <a href={toHash({ kind: 'memory', id: other })}>
              {toFirstWords(documents.value.get(other)?.content ?? other, 70)}
            </a>
          </span>
        </p>
      ))}
    </>
  )
}

function Facts({ document }: { document: MemoryDocument }): VNode {
  const { audience, workdir, expiresAt } = document
  const rows: readonly (readonly [string, string])[] = [
    ['Written', `${toMoment(document.createdAt)}, by ${toAuthor(document)}`],
    ...(document.updatedAt === document.createdAt
      ? []
      : [['Changed', toMoment(document.updatedAt)] as const]),
    ['Holds in', workdir === undefined ? 'every folder' : safeLine(workdir)],
    ...(expiresAt === undefined ? [] : [['Holds until', toMoment(expiresAt)] as const]),
    ...(document.type !== 'teaching' && audience === undefined
      ? []
      : [['For', toAudience(audience)] as const]),
  ]
  return (
    <dl class="memory-rows">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function toAudience(audience: MemoryDocument['audience']): string {
  const agents = audience?.agents ?? []
  const workdirs = audience?.workdirs ?? []
  const who = agents.length === 0 ? 'every agent' : agents.map((agent) => safeLine(agent)).join(', ')
  return workdirs.length === 0 ? who : `${who} in ${workdirs.map((folder) => safeLine(folder)).join(', ')}`
}
