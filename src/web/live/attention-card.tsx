import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { AnswerOutcome, Attention, AttentionState, Resolution } from '#model'
import type { BoardCard } from '#wire'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'
import { toAskLine, toHeading, toOutcomeWords } from './attention-words.ts'
import { useCardKeys } from './card-keys.ts'
import { Exact } from './exact-text.tsx'
import { toFailure } from './outbox.ts'
import { PermissionCard } from './permission-card.tsx'
import { QuestionCard } from './question-card.tsx'
import '../style/parts.css'
import './attention.css'

/** A card wakes up this long after it appeared: nobody allows what came under their finger. */
const WAKES_MS = 500

/** Where an answer goes, and how it stands with it. */
export interface Answering {
  readonly isBusy: boolean
  /** Nothing can be allowed yet: the card has only just appeared. */
  readonly isAsleep: boolean
  readonly answer: (resolution: Resolution) => void
}

/**
 * Something an agent needs from a person: shown whole, answered once. An answer carries the id and the hash of what is
 * shown here. `onAnswered` hears how it went, also when somebody else was faster.
 */
export function AttentionCard(props: {
  attention: Attention
  /** `1 of 3`. */
  place?: string
  /** What the owner of the session lets be done from here. */
  may?: BoardCard['may']
  onAnswered?: (outcome: AnswerOutcome) => void
}): VNode {
  const { attention, place } = props
  const { throughline, say } = useShared()
  const card = useRef<HTMLElement>(null)
  useCardKeys(card)
  const isBusy = useSignal(false)
  const isAsleep = useSignal(true)
  const trouble = useSignal<{ readonly message: string; readonly hint: string } | undefined>(undefined)
  const late = useSignal<AttentionState | undefined>(undefined)

  useEffect(() => {
    isAsleep.value = true
    isBusy.value = false
    trouble.value = undefined
    late.value = undefined
    const timer = setTimeout(() => (isAsleep.value = false), WAKES_MS)
    return () => clearTimeout(timer)
  }, [attention.id])

  async function answer(resolution: Resolution): Promise<void> {
    isBusy.value = true
    trouble.value = undefined
    try {
      const outcome = await throughline.live.resolve({ id: attention.id, hash: attention.hash, resolution })
      if (outcome.kind === 'late') {
        late.value = outcome.state
        say(`Somebody was faster. ${toOutcomeWords(outcome.state)}`)
      }
      props.onAnswered?.(outcome)
    } catch (error) {
      trouble.value = toFailure(error)
      isBusy.value = false
    }
  }

  if (late.value !== undefined) return <SettledAttentionNote attention={attention} state={late.value} />
  const { ask } = attention
  const answering: Answering = {
    isBusy: isBusy.value || props.may === 'read',
    isAsleep: isAsleep.value || attention.masked === true,
    answer: (resolution) => void answer(resolution),
  }
  const heading = `attention ${attention.id}`
  return (
    <section
      class="attention"
      ref={card}
      tabIndex={-1}
      aria-labelledby={heading}
      data-attention={attention.id}
      aria-busy={isBusy.value}
    >
      <header class="attention-head">
        <h2 id={heading}>{toHeading(ask)}</h2>
        {ask.kind === 'permission' && ask.agentId !== undefined ? <span class="tag">a subagent</span> : null}
        <span class="attention-where">
          in{' '}
          <code>
            <Exact text={ask.workdir} />
          </code>
        </span>
        {place === undefined ? null : <span class="attention-place">{place}</span>}
      </header>
      {ask.kind === 'permission' ? (
        <PermissionCard key={attention.id} ask={ask} hash={attention.hash} answering={answering} />
      ) : (
        <QuestionCard key={attention.id} ask={ask} answering={answering} />
      )}
      {props.may === 'read' ? (
        <p class="attention-hint">It is shared with you to read: its owner answers it.</p>
      ) : attention.masked === true ? (
        <p class="attention-hint">
          Something in it was masked before it left its machine. From here it can only be denied.
        </p>
      ) : null}
      {trouble.value === undefined ? null : (
        <p class="attention-trouble" role="alert">
          {trouble.value.message} {trouble.value.hint}
        </p>
      )}
    </section>
  )
}

/** What is left of a card once it is settled: what it was, and who said what. */
export function SettledAttentionNote(props: {
  attention: Attention
  state: AttentionState
  onDismiss?: () => void
}): VNode {
  return (
    <p class="attention-note" role="status">
      <Icon name="check" />
      <span class="attention-note-words">
        <b>{toOutcomeWords(props.state)}</b> <span class="soft">{toAskLine(props.attention.ask)}</span>
      </span>
      {props.onDismiss === undefined ? null : (
        <button type="button" class="icon-button small" aria-label="Dismiss" onClick={props.onDismiss}>
          <Icon name="cross" />
        </button>
      )}
    </p>
  )
}
