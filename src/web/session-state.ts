import { isWaitingForYou, type LiveState, type SessionSummary } from '#model'
import type { BoardCard } from '#wire'

/** What a badge says of a session, if there is anything to say. */
export interface Badge {
  readonly kind: 'waiting' | 'busy' | 'idle' | 'gone' | 'damaged' | 'archived' | 'demo' | 'elsewhere'
  readonly words: string
  readonly hint: string
}

/**
 * The most pressing thing first. A session that is simply there has no badge. Of one that is run here the board knows
 * more than its agent.
 */
export function toBadges(session: SessionSummary, card?: BoardCard): readonly Badge[] {
  const badges: Badge[] = []
  const live = isHeld(card) ? toLive(card) : (session.live ?? (card && toLive(card)))
  if (live !== undefined) {
    if (isWaitingForYou(live)) {
      badges.push({
        kind: 'waiting',
        words: 'waiting for you',
        hint: live.waitingFor ?? 'It needs an answer.',
      })
    } else if (live.status === 'busy') {
      badges.push({ kind: 'busy', words: 'working', hint: 'The agent is at work.' })
    } else if (live.status === 'gone') {
      badges.push({ kind: 'gone', words: 'ended abruptly', hint: 'Its process died without a word.' })
    } else if (card?.lastTurn === 'failed' && isHeld(card)) {
      badges.push({ kind: 'gone', words: 'failed', hint: card.trouble ?? 'The last turn failed.' })
    } else badges.push({ kind: 'idle', words: 'done', hint: 'Open, and waiting for nobody.' })
  }
  // The list looks at both ends of a file; the index has read what is between them.
  if (session.state === 'damaged' || (session.state === 'ok' && (session.counts?.damaged ?? 0) > 0))
    badges.push({ kind: 'damaged', words: 'damaged', hint: 'Parts of its file could not be read.' })
  if (session.state === 'unreadable')
    badges.push({ kind: 'damaged', words: 'unreadable', hint: session.problem ?? 'Its file cannot be read.' })
  if (session.sourceGone === true)
    badges.push({
      kind: 'archived',
      words: 'archived',
      hint: "The agent's own file is gone; this is our copy.",
    })
  if (session.origin !== undefined) {
    const { machine, person, mine } = session.origin
    badges.push({
      kind: 'elsewhere',
      words: mine ? machine : `${person} · ${machine}`,
      hint: `It is on ${machine}, a machine of ${mine ? 'yours' : person}.`,
    })
  }
  return badges
}

/** Whether the board speaks of a session that goes on. One that is over may go on elsewhere. */
export function isHeld(card: BoardCard | undefined): card is BoardCard {
  return card !== undefined && card.state.state !== 'ended'
}

function toLive({ state, attentions }: BoardCard): LiveState | undefined {
  switch (state.state) {
    case 'waiting': {
      const ask = attentions[0]?.ask
      return {
        pid: 0,
        status: 'waiting',
        waitingFor: ask?.kind === 'permission' ? `asks for ${ask.tool}` : undefined,
      }
    }
    case 'pending':
    case 'running':
      return { pid: 0, status: 'busy' }
    case 'idle':
      return { pid: 0, status: 'idle' }
    case 'ended':
      return /crash|fail|gone/.test(state.reason) ? { pid: 0, status: 'gone' } : undefined
  }
}
