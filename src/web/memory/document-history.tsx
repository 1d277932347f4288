import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { DocumentVersion, MemoryDocument } from '#model'
import { safeLine, toPlural } from '#render'
import { toMoment } from '../age.ts'
import { useAnswer } from '../answer.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { useAct } from './document-act.ts'
import { toChanges } from './document-changes.ts'
import { CHANGE_NAMES } from './document-words.ts'
import { WordDiff } from './word-diff-view.tsx'

/** Every version a document had, the latest first; any two of them can be compared, and any can be had back. */
export function DocumentHistory({ document }: { document: MemoryDocument }): VNode | null {
  const { throughline } = useShared()
  const { answer } = useAnswer(() => throughline.memory.versions(document.id), [document.id, document])
  if (answer.kind === 'waiting') return null
  if (answer.kind === 'failed') return <TroubleNote trouble={answer.trouble} />
  return <History id={document.id} versions={answer.value} />
}

function History({ id, versions }: { id: string; versions: readonly DocumentVersion[] }): VNode | null {
  const { act, trouble } = useAct()
  const from = useSignal<number | undefined>(undefined)
  const to = useSignal<number | undefined>(undefined)
  const last = versions.at(-1)
  if (last === undefined) return null
  const newer = versions.find(({ version }) => version === to.value) ?? last
  const older =
    versions.find(({ version }) => version === from.value) ??
    versions.findLast(({ version }) => version < newer.version)
  return (
    <section class="memory-history" aria-label="History">
      <h2>
        History <span class="tally">{toPlural(versions.length, 'version')}</span>
      </h2>
      {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
      {older === undefined ? null : (
        <div class="memory-compare">
          <p>
            <VersionMenu
              label="Compare from version"
              versions={versions}
              value={older.version}
              onChange={(value) => (from.value = value)}
            />
            <span aria-hidden="true">→</span>
            <VersionMenu
              label="Compare to version"
              versions={versions}
              value={newer.version}
              onChange={(value) => (to.value = value)}
            />
          </p>
          <WordDiff before={older.document.content} after={newer.document.content} />
          {toChanges(older.document, newer.document).map(({ name, before, after }) => (
            <p key={name} class="small">
              {name}: <del>{safeLine(before)}</del> → <ins>{safeLine(after)}</ins>
            </p>
          ))}
        </div>
      )}
      <ol>
        {versions.toReversed().map((version) => (
          <li key={`${version.version} ${version.at}`}>
            <span class="memory-version">{version.version}</span>
            <span>
              {CHANGE_NAMES[version.change]}
              {version.by === '' ? '' : ` by ${safeLine(version.by.slice(0, 60))}`}
            </span>
            <time class="faint" dateTime={version.at}>
              {toMoment(version.at)}
            </time>
            {version === last ? (
              <span class="tag">now</span>
            ) : (
              <button
                type="button"
                class="button quiet"
                aria-label={`Restore version ${version.version}`}
                onClick={() =>
                  void act(
                    id,
                    { do: 'restore', from: version.version },
                    `Version ${version.version} is restored`,
                  )
                }
              >
                Restore
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

function VersionMenu(props: {
  label: string
  versions: readonly DocumentVersion[]
  value: number
  onChange: (version: number) => void
}): VNode {
  return (
    <select
      class="memory-select"
      aria-label={props.label}
      value={String(props.value)}
      onChange={(event) => props.onChange(Number(event.currentTarget.value))}
    >
      {props.versions.map(({ version, change }) => (
        <option key={version} value={String(version)}>
          {version}: {CHANGE_NAMES[change].toLowerCase()}
        </option>
      ))}
    </select>
  )
}
