import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { DocumentType } from '#model'
import type { PickedAt, RememberOutcome, RememberRequest } from '#wire'
import { toTrouble, type Trouble } from '../answer.ts'
import { Icon } from '../icon.tsx'
import { Sheet } from '../palette/sheet.tsx'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { DocumentFields, toExpiry, toParts, type Fields } from './document-fields.tsx'
import { toHeldWords, TYPE_MEANINGS, TYPE_NAMES } from './document-words.ts'
import { NearQuestion, SecretQuestion } from './remember-questions.tsx'
import '../style/parts.css'
import '../live/start-dialog.css'
import './memory.css'

/** What is to be remembered, and where it was picked. */
export interface Rememberable {
  readonly text: string
  readonly at?: PickedAt
  readonly workdir?: string
}

type Question = Extract<RememberOutcome, { kind: 'near' | 'secret' }>

const TYPES: readonly Exclude<DocumentType, 'message' | 'artifact'>[] = ['learning', 'marker', 'teaching']

/** Asks how something is to be remembered. Whatever happens, the words stay until they are kept or thrown away. */
export function RememberDialog({ picked, onClose }: { picked: Rememberable; onClose: () => void }): VNode {
  const { throughline, say } = useShared()
  const fields = useSignal<Fields>({
    type: 'learning',
    content: picked.text,
    category: 'knowledge',
    tags: [],
    expires: '',
    agents: '',
    workdirs: '',
  })
  const isPinned = useSignal(false)
  const isLocal = useSignal(true)
  const isBusy = useSignal(false)
  const trouble = useSignal<Trouble | undefined>(undefined)
  const question = useSignal<Question | undefined>(undefined)
  /** What was answered already: a second question does not forget the first. */
  const answered = useSignal<Partial<RememberRequest>>({})

  async function save(answer: Partial<RememberRequest> = {}): Promise<void> {
    if (isBusy.value || fields.value.content.trim() === '') return
    isBusy.value = true
    answered.value = { ...answered.value, ...answer }
    try {
      const request = toRequest(fields.value, {
        picked,
        isPinned: isPinned.value,
        isLocal: isLocal.value,
      })
      settle(await throughline.memory.remember({ ...request, ...answered.value }))
    } catch (error) {
      trouble.value = toTrouble(error)
    }
    isBusy.value = false
  }

  function settle(outcome: RememberOutcome): void {
    trouble.value = undefined
    switch (outcome.kind) {
      case 'near':
      case 'secret':
        question.value = outcome
        return
      case 'remembered':
        say('Remembered')
        break
      case 'confirmed':
        say('Already remembered; confirmed.')
        break
      case 'held':
        say(`Held back until somebody decides. ${toHeldWords(outcome.reason)}`)
        break
      case 'ignored':
        say('Nothing was changed.')
        break
    }
    onClose()
  }

  function goBack(): void {
    question.value = undefined
    answered.value = {}
  }

  const asked = question.value
  return (
    <Sheet label="Remember" class="memory-sheet start-dialog" onClose={onClose}>
      <header class="start-head">
        <h2>
          <span aria-hidden="true" class="told-sign">
            ◆
          </span>{' '}
          Remember
        </h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      {asked === undefined ? (
        <form
          class="start-form"
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
          <div class="start-fields" tabIndex={-1}>
            <TypeField
              type={fields.value.type}
              onChange={(type) => (fields.value = { ...fields.value, type })}
            />
            <DocumentFields
              fields={fields.value}
              onChange={(part) => (fields.value = { ...fields.value, ...part })}
            />
            <div>
              <label class="tick">
                <input
                  type="checkbox"
                  checked={isPinned.value}
                  onChange={(event) => (isPinned.value = event.currentTarget.checked)}
                />
                Pin: new sessions are told this first
              </label>
              {picked.workdir === undefined ? null : (
                <label class="tick">
                  <input
                    type="checkbox"
                    checked={isLocal.value}
                    onChange={(event) => (isLocal.value = event.currentTarget.checked)}
                  />
                  <span>
                    Holds in <code class="memory-path">{picked.workdir}</code>
                  </span>
                </label>
              )}
            </div>
            {trouble.value === undefined ? null : <TroubleNote trouble={trouble.value} />}
          </div>
          <footer class="start-foot">
            <button type="button" class="button" onClick={onClose}>
              Cancel
            </button>
            <button
              type="submit"
              class="button primary"
              disabled={isBusy.value || fields.value.content.trim() === ''}
            >
              {isBusy.value ? 'A moment…' : 'Remember'}
            </button>
          </footer>
        </form>
      ) : (
        <div class="start-form">
          {asked.kind === 'near' ? (
            <NearQuestion
              near={asked.near}
              text={fields.value.content}
              onChoose={(choice, id) => void save({ near: { choice, id } })}
              onBack={goBack}
            />
          ) : (
            <SecretQuestion
              outcome={asked}
              text={fields.value.content}
              onMasked={() => {
                fields.value = { ...fields.value, content: asked.masked }
                void save()
              }}
              onKeep={() => void save({ keepSecret: true })}
              onBack={goBack}
            />
          )}
          {trouble.value === undefined ? null : (
            <div class="memory-question-trouble">
              <TroubleNote trouble={trouble.value} />
            </div>
          )}
        </div>
      )}
    </Sheet>
  )
}

function TypeField(props: { type: Fields['type']; onChange: (type: Fields['type']) => void }): VNode {
  return (
    <div class="field" role="group" aria-label="What it is">
      <span>What it is</span>
      <div class="choice">
        {TYPES.map((type) => (
          <button
            key={type}
            type="button"
            aria-pressed={props.type === type}
            onClick={() => props.onChange(type)}
          >
            {TYPE_NAMES[type]}
          </button>
        ))}
      </div>
      <span class="soft small">{TYPE_MEANINGS[props.type]}</span>
    </div>
  )
}

function toRequest(
  fields: Fields,
  of: { readonly picked: Rememberable; readonly isPinned: boolean; readonly isLocal: boolean },
): RememberRequest {
  const { picked } = of
  const expiresAt = toExpiry(fields.expires)
  const audience = { agents: toParts(fields.agents), workdirs: toParts(fields.workdirs) }
  const isForAll = audience.agents.length + audience.workdirs.length === 0
  return {
    type: fields.type,
    content: fields.content.trim(),
    category: fields.category,
    tags: fields.tags,
    ...(of.isPinned ? { pinned: true } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(fields.type !== 'teaching' || isForAll ? {} : { audience }),
    ...(picked.workdir === undefined || !of.isLocal ? {} : { workdir: picked.workdir }),
    ...(picked.at === undefined ? {} : { at: picked.at }),
  }
}
