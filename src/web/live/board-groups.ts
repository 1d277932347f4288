import type { SessionSummary } from '#model'
import type { BoardCard } from '#wire'
import { isHeld } from '../session-state.ts'
import type { Cards } from '../shared.ts'

/** What stands together on the board. */
export interface BoardGroup {
  readonly kind: 'waiting' | 'running' | 'done' | 'terminals'
  readonly title: string
  readonly cards: readonly BoardCard[]
}

/** A session that is over stays on the board for a day. */
const RECENT_MS = 24 * 60 * 60 * 1000

/**
 * Everything that runs: what the board says, and of what it does not name or says to be over, the sessions that a
 * process in a terminal holds.
 */
export function toCards(cards: Cards, sessions: readonly SessionSummary[]): readonly BoardCard[] {
  const all = new Map(cards)
  for (const session of sessions) {
    const card = isHeld(cards.get(session.id)) ? undefined : toTerminalCard(session)
    if (card !== undefined) all.set(session.id, card)
  }
  return [...all.values()]
}

/**
 * The board: who waits longest comes first; what runs stands in the order in which it was begun, so that nothing jumps;
 * what is done, the latest first.
 */
export function toGroups(cards: readonly BoardCard[], now: number): readonly BoardGroup[] {
  const waiting: BoardCard[] = []
  const running: BoardCard[] = []
  const done: BoardCard[] = []
  const terminals: BoardCard[] = []
  for (const card of cards) {
    const isOld = card.state.state === 'ended' && now - timeOf(card.changedAt) > RECENT_MS
    if (isOld) continue
    if (card.state.state === 'waiting') waiting.push(card)
    else if (card.where === 'elsewhere' && card.origin === undefined) terminals.push(card)
    else if (card.state.state === 'running' || card.state.state === 'pending') running.push(card)
    else done.push(card)
  }
  const groups: readonly BoardGroup[] = [
    { kind: 'waiting', title: 'Waiting for you', cards: waiting.toSorted(by(waitsSince)) },
    { kind: 'running', title: 'Running', cards: running.toSorted(by(({ startedAt }) => -timeOf(startedAt))) },
    { kind: 'done', title: 'Done', cards: done.toSorted(by(({ changedAt }) => -timeOf(changedAt))) },
    {
      kind: 'terminals',
      title: 'In terminals',
      cards: terminals.toSorted(by(({ changedAt }) => -timeOf(changedAt))),
    },
  ]
  return groups.filter((group) => group.cards.length > 0)
}

/** Since when somebody is waited for. */
function waitsSince(card: BoardCard): number {
  return Math.min(timeOf(card.changedAt), ...card.attentions.map(({ openedAt }) => timeOf(openedAt)))
}

function by(weigh: (card: BoardCard) => number): (a: BoardCard, b: BoardCard) => number {
  return (a, b) => weigh(a) - weigh(b) || (a.sessionId < b.sessionId ? -1 : 1)
}

function timeOf(at: string): number {
  const time = Date.parse(at)
  return Number.isNaN(time) ? 0 : time
}

const STATES = { waiting: 'waiting', busy: 'running', idle: 'idle' } as const

/** What the agent's own registry says of a session that is not run here. */
function toTerminalCard(session: SessionSummary): BoardCard | undefined {
  const { live } = session
  if (live === undefined || live.status === 'gone' || live.status === 'unknown') return undefined
  const at = live.updatedAt ?? session.lastActivityAt ?? ''
  return {
    sessionId: session.id,
    agent: session.agent,
    workdir: session.workdirs.at(-1) ?? '',
    where: 'elsewhere',
    state: { state: STATES[live.status] },
    startedAt: session.createdAt ?? at,
    changedAt: at,
    attentions: [],
    waitingPrompts: 0,
    trouble: live.status === 'waiting' ? live.waitingFor : undefined,
  }
}
