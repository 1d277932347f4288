import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { SessionState, SessionView } from '#model'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'
import type { LiveSession } from './live-session.ts'
import { toFailure } from './outbox.ts'
import type { ResumeFolder } from './resume-folder.ts'
import { findRunningCall, toEndWords, toFailureWords, toRetryPrompt, toRetryWords } from './session-words.ts'
import { StreamView } from './stream-view.tsx'
import type { WrittenStretch } from './unwritten.ts'

/** The end of a conversation that lives: what is being said, what is being done, and how it ended. */
export function LiveEnd(props: { live: LiveSession; folder: ResumeFolder; stretch: WrittenStretch }): VNode {
  const { live, folder, stretch } = props
  const view = live.view.value
  return (
    <div class="live-end" data-live={view?.state.state ?? 'none'}>
      <StreamView pieces={live.streaming(stretch)} />
      {view === undefined ? null : <StateLine live={live} folder={folder} view={view} />}
    </div>
  )
}

function StateLine(props: { live: LiveSession; folder: ResumeFolder; view: SessionView }): VNode | null {
  const { live, folder, view } = props
  const { turn } = view
  const trouble = live.trouble.value
  // Who ran it is gone without a word: what it was doing last is not what it does.
  const state = live.where.value === 'none' && view.state.state !== 'ended' ? GONE : view.state
  switch (state.state) {
    case 'pending':
      return <Line words="Starting the agent…" isBusy />
    case 'running':
      return <Working live={live} view={view} />
    case 'waiting':
      return <Line words="Waiting for you" />
    case 'idle':
      if (turn?.outcome?.kind === 'failed') return <Failed live={live} view={view} />
      if (turn?.outcome?.kind === 'interrupted')
        return <Line words="Stopped. It waits for what you say next." />
      return trouble === undefined ? null : <Line words={trouble} />
    case 'ended':
      return <Ended live={live} folder={folder} workdir={view.workdir} state={state} />
  }
}

function Line({ words, isBusy = false }: { words: string; isBusy?: boolean }): VNode {
  return (
    <p class="live-line" role="status">
      {isBusy ? <span class="live-pulse" aria-hidden="true" /> : null}
      <span>{words}</span>
    </p>
  )
}

/** Counts seconds where they are looked at. */
function useSeconds(): number {
  const now = useSignal(Date.now())
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now.value
}

function Working({ live, view }: { live: LiveSession; view: SessionView }): VNode {
  const now = useSeconds()
  const retry = live.retrying.value
  const seconds = Math.max(0, Math.round((now - Date.parse(view.turn?.startedAt ?? '')) / 1000))
  const call = findRunningCall(view)
  if (retry !== undefined) {
    return (
      <p class="live-line live-retrying" role="status">
        <Icon name="warning" />
        <span>{toRetryWords(retry, Date.parse(retry.at) + retry.inMs - now)}</span>
      </p>
    )
  }
  return (
    <p class="live-line">
      <span class="live-pulse" aria-hidden="true" />
      <span role="status">Working</span>
      {Number.isNaN(seconds) ? null : <span class="live-seconds">{toDuration(seconds)}</span>}
      {call === undefined ? null : <span class="live-call">{call}</span>}
    </p>
  )
}

function toDuration(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

function Failed({ live, view }: { live: LiveSession; view: SessionView }): VNode | null {
  const outcome = view.turn?.outcome
  const words = toRetryPrompt(view)
  if (outcome?.kind !== 'failed' || words === undefined) return null
  return (
    <div class="live-over live-failed" role="status">
      <Icon name="warning" />
      <div>
        <b>The turn failed.</b> <span>{toFailureWords(outcome)}</span>
        {outcome.retry ? null : (
          <span class="soft"> {outcome.hint ?? 'Trying again will hardly help by itself.'}</span>
        )}
      </div>
      <button
        type="button"
        class="button"
        onClick={() => void live.outbox.send([{ kind: 'text', text: words }], { isOver: false })}
      >
        {words === 'Go on where you stopped.' ? 'Go on' : 'Try again'}
      </button>
    </div>
  )
}

const GONE: Over = { state: 'ended', reason: 'host-gone' }

type Over = Extract<SessionState, { state: 'ended' }>

function Ended(props: { live: LiveSession; folder: ResumeFolder; workdir: string; state: Over }): VNode {
  const { live, folder, workdir, state } = props
  const { throughline, say } = useShared()
  const isBusy = useSignal(false)
  async function resume(): Promise<void> {
    const where = await folder.check([workdir])
    if (where === undefined) return
    isBusy.value = true
    try {
      await throughline.live.resume(live.id, where)
    } catch (error) {
      const { message, hint } = toFailure(error)
      say(`${message}. ${hint}`)
    }
    isBusy.value = false
  }
  return (
    <div class={`live-over live-ended-${state.reason}`} role="status">
      <div>
        <b>{toEndWords(state.reason)}</b> {state.message === undefined ? null : <span>{state.message} </span>}
        {state.hint === undefined ? null : <span class="soft">{state.hint}</span>}
      </div>
      <button type="button" class="button" disabled={isBusy.value} onClick={() => void resume()}>
        {isBusy.value ? 'Resuming…' : 'Resume'}
      </button>
    </div>
  )
}
