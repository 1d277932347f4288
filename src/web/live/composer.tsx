import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { isLive, type Block, type SessionSummary } from '#model'
import type { Digest } from '#wire'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'
import { AttachmentList, useAttachments } from './attachment-list.tsx'
import { CompletionList, useCompletion } from './completion-list.tsx'
import { openDraft } from './draft.ts'
import type { LiveSession } from './live-session.ts'
import type { ResumeFolder } from './resume-folder.ts'
import { toFailure } from './outbox.ts'
import { ModelPicker, ModePicker, type Wanted } from './pickers.tsx'
import { SessionMenu } from './session-menu.tsx'

/** Two presses of Escape within this stop the turn. */
const TWICE_MS = 700

/** Where one writes to a session, whether anybody runs it or not: what is sent to one that is over goes on with it. */
export function Composer(props: {
  live: LiveSession
  folder: ResumeFolder
  session: SessionSummary
  digest: Digest | undefined
}): VNode {
  const { live, folder, session, digest } = props
  const { throughline, say } = useShared()
  const draft = useMemo(() => openDraft(live.id, localStorage), [live.id])
  const text = useSignal(draft.read())
  const wanted = useSignal<Wanted>({})
  // It does not close again: what is above would move away from under the finger that is about to touch it.
  const isOpened = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const attachments = useAttachments(live)
  const isLiveHere = live.where.value === 'live'
  const isRunning = live.isRunning.value
  const isThumbs = useMemo(() => matchMedia('(pointer: coarse)').matches, [])

  function write(next: string): void {
    text.value = next
    draft.write(next)
  }

  const completion = useCompletion({
    field,
    text: text.value,
    commands: live.view.value?.commands ?? [],
    files: digest?.files.map(({ path }) => path) ?? [],
    onText: write,
  })

  useLayoutEffect(() => {
    const element = field.current
    if (element === null || CSS.supports('field-sizing', 'content')) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight + 2}px`
  }, [text.value])

  useEffect(() => {
    const take = (event: Event): void => {
      if (!(event instanceof CustomEvent) || typeof event.detail !== 'string') return
      write(text.value === '' ? event.detail : `${event.detail}\n\n${text.value}`)
      field.current?.focus()
    }
    addEventListener('throughline-draft', take)
    return () => removeEventListener('throughline-draft', take)
  }, [])

  // Whether its folder exists is asked once somebody is about to write: most sessions are only read.
  const isWriting = isOpened.value || text.value !== ''
  useEffect(() => {
    if (isWriting && live.where.value === 'none') void folder.look(session.workdirs)
  }, [isWriting, live.where.value])

  async function send(): Promise<void> {
    const where = isLiveHere ? {} : await folder.check(session.workdirs)
    if (where === undefined) return
    const said = text.value.trim()
    const blocks: readonly Block[] = [
      ...attachments.list.value.map(({ block }) => block),
      ...(said === '' ? [] : [{ kind: 'text', text: said } as const]),
    ]
    if (blocks.length === 0) return
    void live.outbox.send(blocks, {
      isOver: !isLiveHere,
      ...(isLiveHere ? {} : wanted.value),
      ...where,
    })
    write('')
    attachments.clear()
    dispatchEvent(new CustomEvent('throughline-wish', { detail: 'to-end' }))
    field.current?.focus()
  }

  async function stop(): Promise<void> {
    try {
      await throughline.live.interrupt(live.id)
    } catch (error) {
      const { message, hint } = toFailure(error)
      say(`${message}. ${hint}`)
    }
  }
  useDoubleEscape(isRunning, () => void stop())

  function onKey(event: KeyboardEvent): void {
    if (completion.onKey(event)) return
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || isThumbs) return
    event.preventDefault()
    void send()
  }

  const isEmpty = text.value.trim() === '' && attachments.list.value.length === 0
  return (
    <form
      class={`composer ${isLiveHere || !isEmpty || isOpened.value ? 'is-open' : ''}`}
      aria-label="Write to this session"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return
        event.preventDefault()
        void attachments.add(event.dataTransfer.files)
      }}
    >
      <AttachmentList attachments={attachments} />
      <CompletionList completion={completion} />
      <textarea
        ref={field}
        id="composer"
        rows={1}
        aria-label="Prompt"
        placeholder={placeholderOf(live, session)}
        value={text.value}
        {...completion.attributes}
        onInput={(event) => {
          write(event.currentTarget.value)
          completion.look()
        }}
        onKeyDown={onKey}
        onFocus={() => (isOpened.value = true)}
        onClick={completion.look}
        onPaste={(event) => {
          const files = event.clipboardData?.files
          if (files === undefined || files.length === 0) return
          event.preventDefault()
          void attachments.add(files)
        }}
      />
      <div class="composer-bar">
        <label class="icon-button" title="Attach pictures, PDFs or text">
          <Icon name="clip" />
          <span class="unseen">Attach files</span>
          <input
            type="file"
            multiple
            class="unseen"
            onChange={(event) => {
              const { files } = event.currentTarget
              if (files !== null) void attachments.add(files)
              event.currentTarget.value = ''
            }}
          />
        </label>
        <ModePicker live={live} wanted={wanted} />
        <ModelPicker live={live} wanted={wanted} models={digest?.facts.models ?? []} />
        <span class="composer-gap" />
        {isRunning ? (
          <button
            type="button"
            class="button stop"
            title="Stop the turn (Esc Esc)"
            onClick={() => void stop()}
          >
            <span class="stop-sign" aria-hidden="true" /> <span class="stop-word">Stop</span>
          </button>
        ) : null}
        {isLiveHere ? <SessionMenu live={live} /> : null}
        <button type="submit" class="button primary send" disabled={isEmpty}>
          {isRunning ? 'Queue' : isLiveHere || live.where.value === 'asking' ? 'Send' : 'Resume and send'}
        </button>
      </div>
    </form>
  )
}

function placeholderOf(live: LiveSession, session: SessionSummary): string {
  if (live.isRunning.value) return 'Say something while it works…'
  if (live.where.value === 'live') return 'Reply…'
  if (isLive(session.live)) return 'It is open in a terminal. Writing here asks what to do first.'
  return 'Go on with this session…'
}

function useDoubleEscape(isOn: boolean, stop: () => void): void {
  useEffect(() => {
    if (!isOn) return undefined
    let last = 0
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open], [role="dialog"]') !== null) return
      if (event.timeStamp - last < TWICE_MS) stop()
      last = event.timeStamp
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOn])
}
