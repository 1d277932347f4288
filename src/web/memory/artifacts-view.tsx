import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { number } from '#base'
import type { MemoryDocument } from '#model'
import { safeLine, toSize } from '#render'
import type { ArtifactContent } from '#wire'
import { toAge, toMoment } from '../age.ts'
import { useAnswer } from '../answer.ts'
import { Icon } from '../icon.tsx'
import { CodeBlock } from '../message/code-block.tsx'
import { decodeText, readImage } from '../message/image-bytes.ts'
import { ImageView } from '../message/media.tsx'
import { toHash } from '../route.ts'
import { toTitle } from '../session-groups.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'

const MOST = 200

/** Files that agents made, the latest first, with what stands in them. Nothing of it is ever run. */
export function ArtifactsView({ selected }: { selected: string | undefined }): VNode {
  const { throughline, now, sessions } = useShared()
  const { answer, again } = useAnswer(
    () => throughline.memory.query({ type: 'artifact' }, { limit: MOST }),
    [],
  )
  const filter = useSignal('')
  if (answer.kind === 'waiting')
    return (
      <div class="skeleton" role="status" aria-label="Loading the files">
        <span />
        <span />
        <span />
      </div>
    )
  if (answer.kind === 'failed') return <TroubleNote trouble={answer.trouble} again={again} />
  const words = filter.value.trim().toLowerCase()
  const found = answer.value
    .filter(({ content }) => content.toLowerCase().includes(words))
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  const current = answer.value.find(({ id }) => id === selected)
  const nameOf = (id: string | null): string => {
    const session = sessions.value?.find((one) => one.id === id)
    return session === undefined ? '' : toTitle(session)
  }
  return (
    <div class={`memory-columns ${selected === undefined ? '' : 'has-detail'}`}>
      <section class="memory-list" aria-label="Files that agents made">
        <div class="memory-search">
          <Icon name="search" />
          <input
            type="search"
            placeholder="Filter files"
            aria-label="Filter files"
            value={filter.value}
            onInput={(event) => (filter.value = event.currentTarget.value)}
          />
        </div>
        {found.length === 0 ? (
          <p class="hush">No file here was made by an agent, as far as is known.</p>
        ) : null}
        <ul>
          {found.map((document) => (
            <li key={document.id}>
              <article class={`memory-card ${document.id === selected ? 'current' : ''}`}>
                <div class="memory-card-body">
                  <a
                    class="memory-card-words memory-file"
                    href={toHash({ kind: 'memory', id: document.id, show: 'artifacts' })}
                    aria-current={document.id === selected ? 'true' : undefined}
                  >
                    {safeLine(document.content.slice(0, 300))}
                  </a>
                  <p class="memory-card-facts">
                    <span class="ellipsis">{safeLine(nameOf(document.sessionId))}</span>
                    <Size bytes={number(document.extra, 'bytes')} />
                    <time dateTime={document.updatedAt} title={toMoment(document.updatedAt)}>
                      {toAge(document.updatedAt, now.value)}
                    </time>
                  </p>
                </div>
              </article>
            </li>
          ))}
        </ul>
      </section>
      {selected === undefined ? null : current === undefined ? (
        <section class="memory-detail" aria-label="File">
          <p class="hush">This file is not among those that are known.</p>
        </section>
      ) : (
        <Artifact key={current.id} document={current} />
      )}
    </div>
  )
}

function Artifact({ document }: { document: MemoryDocument }): VNode {
  const { throughline } = useShared()
  const hash = useSignal<string | undefined>(undefined)
  const { answer: versions } = useAnswer(() => throughline.memory.versions(document.id), [document.id])
  const { answer } = useAnswer(
    () => throughline.memory.artifact(document.id, hash.value),
    [document.id, hash.value],
  )
  const hashes = versions.kind === 'there' ? versions.value : []
  const { provenance } = document
  return (
    <section class="memory-detail" aria-label="File" tabIndex={-1}>
      <header class="memory-detail-head">
        <a class="button quiet" href={toHash({ kind: 'memory', show: 'artifacts' })}>
          <Icon name="cross" /> Close
        </a>
        {provenance === undefined ? null : (
          <a
            class="button quiet"
            href={toHash({ kind: 'session', id: provenance.sessionId, entry: provenance.entryId })}
          >
            Where it was written
          </a>
        )}
      </header>
      <p class="memory-path memory-file">{safeLine(document.files?.[0]?.path ?? document.content)}</p>
      {hashes.length < 2 ? null : (
        <select
          class="memory-select"
          aria-label="Version"
          value={hash.value ?? document.files?.[0]?.hash ?? ''}
          onChange={(event) => (hash.value = event.currentTarget.value)}
        >
          {hashes.map(({ version, at, document: was }) => (
            <option key={version} value={was.files?.[0]?.hash ?? ''}>
              Version {version}, {toMoment(at)}
            </option>
          ))}
        </select>
      )}
      {answer.kind === 'failed' ? <TroubleNote trouble={answer.trouble} /> : null}
      {answer.kind === 'there' ? <Content content={answer.value} /> : null}
    </section>
  )
}

const NO_MARKS: readonly string[] = []

/** Pictures as pictures, by what their bytes say; all else as text, whatever it calls itself. */
function Content({ content }: { content: ArtifactContent }): VNode {
  const source = { kind: 'base64' as const, mediaType: content.mediaType, data: content.bytes }
  if (readImage(source) !== undefined) return <ImageView image={{ kind: 'image', source }} marks={NO_MARKS} />
  const text = decodeText(content.bytes)
  if (text === undefined)
    return <p class="hush">A file of {safeLine(content.mediaType)}, which is no text.</p>
  const language = /\.(\w{1,12})$/.exec(content.path)?.[1] ?? ''
  return <CodeBlock text={text} language={language} marks={NO_MARKS} />
}

/** Not every file's size was recorded. */
function Size({ bytes }: { bytes: number | undefined }): VNode | null {
  return bytes === undefined ? null : <span>{toSize(bytes)}</span>
}
