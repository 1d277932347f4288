import { useComputed } from '@preact/signals'
import type { VNode } from 'preact'
import { safeLine, toPlural } from '#render'
import type { BoardCard } from '#wire'
import { toAge, toMoment } from '../age.ts'
import { AgentIcon } from '../agent-icon.tsx'
import { Icon } from '../icon.tsx'
import { notifying, setNotifying } from '../calling/notifying.ts'
import { toHash } from '../route.ts'
import { useShared } from '../shared.ts'
import { AttentionCard } from './attention-card.tsx'
import { toCards, toGroups, type BoardGroup } from './board-groups.ts'
import { nameOf } from './card-name.ts'
import { MODE_MEANINGS, reasonOf, stateOf } from './card-words.ts'
import { LiveDemoButton } from './live-demo-button.tsx'
import { MODE_NAMES } from './session-words.ts'
import '../style/parts.css'
import './board.css'

/** All live sessions: who waits for you, what runs, what is done. What waits can be answered here. */
export function BoardView(): VNode {
  const { board, sessions, now, overlay } = useShared()
  const groups = useComputed(() => toGroups(toCards(board.value, sessions.value ?? []), now.value))
  return (
    <div class="view board">
      <header class="board-head">
        <h1>Board</h1>
        <NotifyButton />
        {groups.value.length > 0 && (
          <button type="button" class="button primary" onClick={() => (overlay.value = 'start')}>
            <Icon name="plus" /> New session
          </button>
        )}
      </header>
      {groups.value.length === 0 && <Empty />}
      {groups.value.map((group) => (
        <Group key={group.kind} group={group} />
      ))}
    </div>
  )
}

function Group({ group: { kind, title, cards } }: { group: BoardGroup }): VNode {
  return (
    <section class={`board-group ${kind}`} aria-labelledby={`board-${kind}`}>
      <h2 id={`board-${kind}`}>
        {title} <span class="tally">{cards.length}</span>
      </h2>
      <ul>
        {cards.map((card) => (
          <li key={card.sessionId}>
            <Card card={card} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Card({ card }: { card: BoardCard }): VNode {
  const { sessions, now } = useShared()
  const state = stateOf(card)
  const reason = reasonOf(card)
  const name = safeLine(nameOf(card, sessions.value ?? []))
  return (
    <article class={`board-card ${state.kind}`} aria-label={name}>
      <header>
        <AgentIcon agent={card.agent} />
        <h3>
          <a class="cut" href={toHash({ kind: 'session', id: card.sessionId })}>
            {name}
          </a>
        </h3>
        <span class={`board-state ${state.kind}`}>
          <span class="dot" aria-hidden="true" />
          {state.words}
          <time dateTime={card.changedAt} title={toMoment(card.changedAt)}>
            {toAge(card.changedAt, now.value)}
          </time>
        </span>
      </header>
      <p class="board-facts soft small">
        {/* What is asked names it too. */}
        {card.attentions.length === 0 && (
          <code class="cut" title={card.workdir}>
            {safeLine(card.workdir)}
          </code>
        )}
        {card.mode !== undefined && <span title={MODE_MEANINGS[card.mode]}>{MODE_NAMES[card.mode]}</span>}
        {card.model !== undefined && <span>{safeLine(card.model)}</span>}
        {card.origin === undefined ? (
          card.where === 'elsewhere' && <span>in a terminal</span>
        ) : (
          <span class="tag">
            {safeLine(
              card.origin.mine ? card.origin.machine : `${card.origin.person} · ${card.origin.machine}`,
            )}
          </span>
        )}
        {card.waitingPrompts > 0 && (
          <span class="tag warn">{toPlural(card.waitingPrompts, 'prompt')} not delivered</span>
        )}
      </p>
      {reason !== undefined && (
        <p class={`board-reason small ${state.kind}`}>
          {safeLine(reason.words)}
          {reason.hint !== '' && <span class="soft"> {safeLine(reason.hint)}</span>}
        </p>
      )}
      {card.attentions.map((attention) => (
        <AttentionCard key={attention.id} attention={attention} may={card.may} />
      ))}
    </article>
  )
}

function Empty(): VNode {
  const { overlay } = useShared()
  return (
    <div class="board-empty">
      <h2>Nothing runs</h2>
      <p class="soft">
        Sessions that you start here stand on this page: what they do, and what they need from you. They go on
        when you close it.
      </p>
      <div class="board-ways">
        <button type="button" class="button primary" onClick={() => (overlay.value = 'start')}>
          Start a session
        </button>
        <LiveDemoButton class="button" />
      </div>
    </div>
  )
}

/** Notifications come while the page is hidden; the browser asks once, and only because of this button. */
function NotifyButton(): VNode {
  const { say } = useShared()
  const state = notifying.value
  if (state.kind === 'impossible')
    return (
      <p class="board-notify soft small" role="note">
        <Icon name="bell" /> {state.why}
      </p>
    )

  async function press(): Promise<void> {
    await setNotifying(state.kind === 'on' ? 'off' : 'on')
    const now = notifying.peek().kind
    if (now === 'on')
      say(
        'Notifications on, while this page is open in the background. A phone may suspend it after a few minutes.',
      )
    else if (now === 'off') say('Notifications off')
  }

  return (
    <button
      type="button"
      class="button"
      aria-pressed={state.kind === 'on'}
      title="When a session needs you while this page is in the background"
      onClick={() => void press()}
    >
      <Icon name="bell" filled={state.kind === 'on'} />{' '}
      {state.kind === 'on' ? 'Notifications on' : 'Turn on notifications'}
    </button>
  )
}
