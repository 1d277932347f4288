import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'
import type { LiveSession } from './live-session.ts'
import { toFailure } from './outbox.ts'

type Question = 'end' | 'renew'

const QUESTIONS: Readonly<Record<Question, { title: string; words: string; button: string }>> = {
  end: {
    title: 'End this session?',
    words:
      'The agent and everything it started is ended. The conversation stays, and you can go on with it whenever you want.',
    button: 'End the session',
  },
  renew: {
    title: 'Begin a new session?',
    words:
      'This session ends, and a fresh one begins in the same folder. It is told what was said here and what was learned, so it goes on where this one stopped. Nothing of this conversation is lost: it stays where it is, and you can come back to it.',
    button: 'Begin a new session',
  },
}

/** What is done rarely, and asked about first. */
export function SessionMenu({ live }: { live: LiveSession }): VNode {
  const { throughline, go } = useShared()
  const menu = useRef<HTMLDetailsElement>(null)
  const asked = useSignal<Question | undefined>(undefined)

  useEffect(() => {
    const close = (event: Event): void => {
      const element = menu.current
      if (element === null || !element.open) return
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !element.contains(toNode(event.target)))
        element.open = false
    }
    addEventListener('pointerdown', close)
    addEventListener('keydown', close)
    return () => {
      removeEventListener('pointerdown', close)
      removeEventListener('keydown', close)
    }
  }, [])

  async function run(question: Question): Promise<void> {
    if (question === 'end') {
      await throughline.live.end(live.id)
      return
    }
    const view = await throughline.live.renew(live.id, { wakeUp: true })
    go({ kind: 'session', id: view.sessionId })
  }

  function ask(question: Question): void {
    if (menu.current !== null) menu.current.open = false
    asked.value = question
  }

  return (
    <>
      <details class="live-menu" ref={menu}>
        <summary class="icon-button" aria-label="More">
          <Icon name="more" />
        </summary>
        <div class="live-menu-list">
          <button type="button" onClick={() => ask('renew')}>
            New session…
          </button>
          <button type="button" onClick={() => ask('end')}>
            End session…
          </button>
        </div>
      </details>
      {asked.value === undefined ? null : (
        <Confirm question={asked.value} onRun={run} onClose={() => (asked.value = undefined)} />
      )}
    </>
  )
}

function toNode(target: EventTarget | null): Node | null {
  return target instanceof Node ? target : null
}

function Confirm(props: {
  question: Question
  onRun: (question: Question) => Promise<void>
  onClose: () => void
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const isBusy = useSignal(false)
  const trouble = useSignal('')
  const { title, words, button } = QUESTIONS[props.question]
  useEffect(() => dialog.current?.showModal(), [])
  async function run(): Promise<void> {
    isBusy.value = true
    try {
      await props.onRun(props.question)
      props.onClose()
    } catch (error) {
      const { message, hint } = toFailure(error)
      trouble.value = `${message}. ${hint}`
      isBusy.value = false
    }
  }
  return (
    <dialog class="confirm" ref={dialog} onClose={props.onClose} aria-labelledby="confirm-title">
      <h2 id="confirm-title">{title}</h2>
      <p>{words}</p>
      {trouble.value === '' ? null : (
        <p class="attention-trouble" role="alert">
          {trouble.value}
        </p>
      )}
      <div class="waiting-actions">
        <button type="button" class="button primary" disabled={isBusy.value} onClick={() => void run()}>
          {button}
        </button>
        <button type="button" class="button quiet" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
      </div>
    </dialog>
  )
}
