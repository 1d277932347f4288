import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { ThroughlineError } from '#base'
import type { DocumentPatch, DocumentVersion, MemoryDocument } from '#model'
import { safeLine } from '#render'
import { toTrouble, type Trouble } from '../answer.ts'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { DocumentFields, toDay, toExpiry, toParts, type Fields } from './document-fields.tsx'
import { WordDiff } from './word-diff-view.tsx'

/** Somebody else saved meanwhile. */
interface Clash {
  readonly theirs: DocumentVersion
}

/**
 * Edits a document as it was when editing began. When it is another one by the time it is saved, both are shown and
 * the person decides; what they wrote is lost by nothing but their own wish.
 */
export function DocumentEdit({ document, onDone }: { document: MemoryDocument; onDone: () => void }): VNode {
  const { throughline, say } = useShared()
  const base = useSignal<MemoryDocument>(document)
  const version = useSignal<number | undefined>(undefined)
  const fields = useSignal<Fields>(toFields(document))
  const isBusy = useSignal(false)
  const trouble = useSignal<Trouble | undefined>(undefined)
  const clash = useSignal<Clash | undefined>(undefined)

  useEffect(() => {
    throughline.memory.versions(document.id).then(
      (versions) => (version.value = findVersion(versions, document)),
      (error: unknown) => (trouble.value = toTrouble(error)),
    )
  }, [document.id])

  async function save(over?: number): Promise<void> {
    if (isBusy.value || fields.value.content.trim() === '') return
    isBusy.value = true
    const expected = over ?? version.value
    try {
      await throughline.memory.edit(
        document.id,
        toPatch(fields.value, base.value),
        expected === undefined ? undefined : { version: expected },
      )
      say('Saved')
      onDone()
    } catch (error) {
      if (error instanceof ThroughlineError && error.code === 'document-changed') await meet()
      else trouble.value = toTrouble(error)
    }
    isBusy.value = false
  }

  /** Shows what was saved meanwhile beside what was written here. */
  async function meet(): Promise<void> {
    try {
      const theirs = (await throughline.memory.versions(document.id)).at(-1)
      if (theirs === undefined) return
      trouble.value = undefined
      clash.value = { theirs }
    } catch (error) {
      trouble.value = toTrouble(error)
    }
  }

  function takeTheirs({ theirs }: Clash): void {
    base.value = theirs.document
    version.value = theirs.version
    fields.value = toFields(theirs.document)
    clash.value = undefined
  }

  function keepMine({ theirs }: Clash): void {
    base.value = theirs.document
    version.value = theirs.version
    clash.value = undefined
    void save(theirs.version)
  }

  return (
    <form
      class="memory-form"
      aria-label="Edit"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return
        event.preventDefault()
        void save()
      }}
    >
      <DocumentFields
        fields={fields.value}
        onChange={(part) => (fields.value = { ...fields.value, ...part })}
      />
      {trouble.value === undefined ? null : <TroubleNote trouble={trouble.value} />}
      {clash.value === undefined ? (
        <div class="memory-actions">
          <button
            type="submit"
            class="button primary"
            disabled={isBusy.value || fields.value.content.trim() === ''}
          >
            {isBusy.value ? 'Saving…' : 'Save'}
          </button>
          <button type="button" class="button" onClick={onDone}>
            Cancel
          </button>
        </div>
      ) : (
        <ClashView clash={clash.value} mine={fields.value.content} onMine={keepMine} onTheirs={takeTheirs} />
      )}
    </form>
  )
}

/** The form shows the document as it was given: its version is the last that says the same. */
function findVersion(
  versions: readonly DocumentVersion[],
  { updatedAt }: MemoryDocument,
): number | undefined {
  const same = versions.findLast((one) => one.document.updatedAt === updatedAt)
  return (same ?? versions.at(-1))?.version
}

function ClashView(props: {
  clash: Clash
  mine: string
  onMine: (clash: Clash) => void
  onTheirs: (clash: Clash) => void
}): VNode {
  const { clash } = props
  const { by } = clash.theirs
  return (
    <section class="memory-question" role="alert" aria-label="Changed meanwhile">
      <h3>{by === '' ? 'Somebody' : safeLine(by.slice(0, 60))} saved another version meanwhile</h3>
      <p class="soft small">From theirs to yours:</p>
      <WordDiff before={clash.theirs.document.content} after={props.mine} />
      <div class="memory-actions">
        <button type="button" class="button primary" onClick={() => props.onMine(clash)}>
          Save mine
        </button>
        <button type="button" class="button" onClick={() => props.onTheirs(clash)}>
          Go on from theirs
        </button>
      </div>
      <p class="soft small">Either way both stay in the history.</p>
    </section>
  )
}

function toFields(document: MemoryDocument): Fields {
  const { type, content, category, tags, expiresAt, audience } = document
  return {
    type: type === 'message' ? 'learning' : type,
    content,
    category,
    tags,
    expires: toDay(expiresAt),
    agents: (audience?.agents ?? []).join(', '),
    workdirs: (audience?.workdirs ?? []).join(', '),
  }
}

/** Only what was changed: what somebody else changed beside it stays as they have it. */
function toPatch(fields: Fields, base: MemoryDocument): DocumentPatch {
  const before = toFields(base)
  const audience = { agents: toParts(fields.agents), workdirs: toParts(fields.workdirs) }
  const isForAll = audience.agents.length + audience.workdirs.length === 0
  return {
    ...(fields.content === before.content ? {} : { content: fields.content }),
    ...(fields.category === before.category ? {} : { category: fields.category }),
    ...(fields.tags.join('\n') === before.tags.join('\n') ? {} : { tags: fields.tags }),
    ...(fields.expires === before.expires ? {} : { expiresAt: toExpiry(fields.expires) }),
    ...(fields.agents === before.agents && fields.workdirs === before.workdirs
      ? {}
      : { audience: isForAll ? undefined : audience }),
  }
}
