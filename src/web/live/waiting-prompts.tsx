import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { textOf } from '#model'
import { safeLine, toPlural } from '#render'
import { toSentence } from '../answer.ts'
import { useShared } from '../shared.ts'
import type { LiveSession, WaitingPrompt } from './live-session.ts'
import { mintId } from './mint-id.ts'
import { toFailure } from './outbox.ts'
import type { ResumeFolder } from './resume-folder.ts'

/** Prompts that are not in the conversation yet: they wait for their turn, or did not arrive. */
export function WaitingPrompts(props: {
  live: LiveSession
  folder: ResumeFolder
  workdirs: readonly string[]
}): VNode | null {
  const { live } = props
  const waiting = live.waiting.value
  if (waiting.length === 0) return null
  return (
    <ul class="waiting-prompts" aria-label="Prompts that wait">
      {waiting.map((prompt) => (
        <li key={prompt.id} class={`waiting-prompt is-${prompt.state}`}>
          <p class="waiting-words">
            <span class="ellipsis">{toLine(prompt)}</span>
            <span class="tag">{STATES[prompt.state]}</span>
          </p>
          {prompt.error?.code === 'session-held' ? (
            <Held live={live} prompt={prompt} />
          ) : (
            <Undelivered {...props} prompt={prompt} />
          )}
        </li>
      ))}
    </ul>
  )
}

const STATES: Readonly<Record<WaitingPrompt['state'], string>> = {
  sending: 'sending',
  queued: 'waits for its turn',
  sent: 'handed over',
  delivered: 'taken up',
  failed: 'not sent',
  undelivered: 'not delivered',
  'in-doubt': 'may not have arrived',
}

function toLine({ blocks }: WaitingPrompt): string {
  const words = safeLine(textOf(blocks).slice(0, 300))
  const others = blocks.filter(({ kind }) => kind !== 'text').length
  return others === 0 ? words : `${words} (${toPlural(others, 'attachment')})`.trim()
}

function Undelivered(props: {
  live: LiveSession
  folder: ResumeFolder
  workdirs: readonly string[]
  prompt: WaitingPrompt
}): VNode | null {
  const { live, folder, workdirs, prompt } = props
  const { error, state } = prompt
  const canSend = state === 'failed' || state === 'undelivered' || state === 'in-doubt'
  const isOver = live.where.value !== 'live'
  const isFolderGone = error?.code === 'folder-not-found'
  useEffect(() => {
    if (isFolderGone) folder.refuse(workdirs)
  }, [isFolderGone])
  async function again(): Promise<void> {
    const where = isOver ? await folder.check(workdirs) : {}
    if (where === undefined) return
    if (state === 'failed') await live.outbox.again(prompt.id, { isOver, ...where })
    else await live.outbox.send(prompt.blocks, { isOver, ...where })
  }
  function edit(): void {
    live.outbox.drop((id) => id === prompt.id)
    dispatchEvent(new CustomEvent('throughline-draft', { detail: textOf(prompt.blocks) }))
  }
  if (!canSend && error === undefined) return null
  return (
    <div class="waiting-trouble">
      {error === undefined ? null : (
        <p role="alert">
          {toSentence(error.message)} {isFolderGone ? null : <span class="soft">{error.hint}</span>}
        </p>
      )}
      {canSend ? (
        <div class="waiting-actions">
          <button type="button" class="button" onClick={() => void again()}>
            Send again
          </button>
          {prompt.isOwn ? (
            <>
              <button type="button" class="button quiet" onClick={edit}>
                Edit
              </button>
              <button
                type="button"
                class="button quiet"
                onClick={() => live.outbox.drop((id) => id === prompt.id)}
              >
                Discard
              </button>
            </>
          ) : null}
        </div>
      ) : null}
    </div>
  )
}

/** Somebody else holds the session: what to do is said, not guessed. */
function Held({ live, prompt }: { live: LiveSession; prompt: WaitingPrompt }): VNode {
  const { throughline, go } = useShared()
  const trouble = useSignal('')
  const isBusy = useSignal(false)
  async function fork(): Promise<void> {
    isBusy.value = true
    try {
      const view = await throughline.live.fork(live.id, { prompt: { id: mintId(), blocks: prompt.blocks } })
      live.outbox.drop((id) => id === prompt.id)
      go({ kind: 'session', id: view.sessionId })
    } catch (error) {
      const { message, hint } = toFailure(error)
      trouble.value = `${message} ${hint}`
      isBusy.value = false
    }
  }
  function cancel(): void {
    live.outbox.drop((id) => id === prompt.id)
    dispatchEvent(new CustomEvent('throughline-draft', { detail: textOf(prompt.blocks) }))
  }
  return (
    <div class="held" role="alert">
      <p>
        <b>{prompt.error?.message}</b>
      </p>
      <p class="soft">
        Taking over ends it there and goes on here. A fork leaves it alone: it begins with a copy of all of
        this.
      </p>
      {trouble.value === '' ? null : <p class="attention-trouble">{trouble.value}</p>}
      <div class="waiting-actions">
        <button
          type="button"
          class="button"
          disabled={isBusy.value}
          onClick={() => void live.outbox.again(prompt.id, { isOver: true, takeOver: true })}
        >
          Take over
        </button>
        <button type="button" class="button" disabled={isBusy.value} onClick={() => void fork()}>
          Fork
        </button>
        <button type="button" class="button quiet" onClick={cancel}>
          Cancel
        </button>
      </div>
    </div>
  )
}
