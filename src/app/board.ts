import type { Attention, SessionEvent, SessionView, TurnOutcome } from '#model'
import type { KeptNews } from '#live'
import type { BoardCard } from '#wire'

/** The cards of all live sessions, and of those elsewhere that wait for a person. */
export interface Board {
  /** Those that wait first, then the most recently changed. */
  list(): readonly BoardCard[]
  find(sessionId: string): BoardCard | undefined
  /** Something happened in a session that is run here. `view` gives how it stands after it. */
  hear(news: KeptNews, view: () => SessionView | undefined): void
  /** What a session elsewhere asks now; nothing: it asks nothing any more. */
  hearElsewhere(where: ElsewhereSession, attentions: readonly Attention[]): void
  /** How a session stands that another machine of the team runs. */
  hearRemote(card: BoardCard): void
  /** It is not to be seen any more. */
  dropRemote(sessionId: string): void
  /** Something is wrong with a session, or not any more. */
  mark(sessionId: string, trouble: string | undefined): void
  /** Nobody needs to see it any longer. */
  remove(sessionId: string): void
  listen(listener: (change: BoardChange) => void): () => void
}

type BoardChange =
  | { readonly kind: 'changed'; readonly card: BoardCard }
  | { readonly kind: 'removed'; readonly sessionId: string }

interface ElsewhereSession {
  readonly sessionId: string
  readonly agent: string
  readonly workdir: string
}

/** Sessions that are over stay on the board, so that somebody who looks later sees how they ended. */
const ENDED_KEPT = 20

export function createBoard(now: () => number): Board {
  const cards = new Map<string, BoardCard>()
  const listeners = new Set<(change: BoardChange) => void>()

  function put(card: BoardCard): void {
    cards.set(card.sessionId, card)
    tell({ kind: 'changed', card })
    const ended = [...cards.values()]
      .filter(({ state }) => state.state === 'ended')
      .toSorted((a, b) => (a.changedAt < b.changedAt ? 1 : -1))
    for (const { sessionId } of ended.slice(ENDED_KEPT)) remove(sessionId)
  }

  function remove(sessionId: string): void {
    if (cards.delete(sessionId)) tell({ kind: 'removed', sessionId })
  }

  function tell(change: BoardChange): void {
    for (const listener of listeners) listener(change)
  }

  return {
    list: () => [...cards.values()].toSorted(byUrgency),
    find: (sessionId) => cards.get(sessionId),
    hear(news, read) {
      if ('event' in news && !isOnCard(news.event)) return
      const view = 'view' in news ? news.view : read()
      if (view === undefined) return
      const before = cards.get(view.sessionId)
      const trouble = troubleOf(news) ?? (isNewTurn(news) ? undefined : before?.trouble)
      const lastTurn = view.turn?.outcome?.kind ?? before?.lastTurn
      put({
        ...toCard(view),
        changedAt: changedAt(news, before) ?? view.startedAt,
        ...(lastTurn === undefined ? {} : { lastTurn }),
        ...(trouble === undefined ? {} : { trouble }),
      })
    },
    hearElsewhere(session, attentions) {
      const before = cards.get(session.sessionId)
      // The one that is run here knows better.
      if (before?.where === 'here' && before.state.state !== 'ended') return
      if (attentions.length === 0) {
        if (before?.where === 'elsewhere') remove(session.sessionId)
        return
      }
      const at = attentions[0]?.openedAt ?? new Date(now()).toISOString()
      put({
        ...session,
        where: 'elsewhere',
        state: { state: 'waiting' },
        startedAt: at,
        changedAt: at,
        attentions,
        waitingPrompts: 0,
      })
    },
    hearRemote(card) {
      const before = cards.get(card.sessionId)
      // The one that is run here knows better.
      if (before !== undefined && before.origin === undefined && before.state.state !== 'ended') return
      put(card)
    },
    dropRemote(sessionId) {
      if (cards.get(sessionId)?.origin !== undefined) remove(sessionId)
    },
    mark(sessionId, trouble) {
      const card = cards.get(sessionId)
      if (card === undefined || card.trouble === trouble) return
      const { trouble: _before, ...rest } = card
      put(trouble === undefined ? rest : { ...rest, trouble })
    },
    remove,
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

function toCard(view: SessionView): Omit<BoardCard, 'changedAt'> {
  const { sessionId, agent, workdir, state, startedAt, mode, model, attentions, prompts } = view
  return {
    sessionId,
    agent,
    workdir,
    where: 'here',
    state,
    startedAt,
    mode,
    ...(model === undefined ? {} : { model }),
    attentions,
    waitingPrompts: prompts.filter((prompt) => prompt.state !== 'delivered').length,
  }
}

/** Words and pieces of words change nothing on a card, and come by the hundred. */
function isOnCard({ kind }: SessionEvent): boolean {
  return kind !== 'delta' && kind !== 'message' && kind !== 'unknown' && kind !== 'agent.started'
}

function isNewTurn(news: KeptNews): boolean {
  return 'event' in news && news.event.kind === 'turn.started'
}

function troubleOf(news: KeptNews): string | undefined {
  if (!('event' in news)) return undefined
  const { event } = news
  if (event.kind === 'trouble.noticed') return event.message
  if (event.kind === 'retrying') return event.message
  if (event.kind === 'turn.ended') return failureOf(event.outcome)
  return event.kind === 'state.changed' && event.state.state === 'ended' ? event.state.message : undefined
}

function failureOf(outcome: TurnOutcome): string | undefined {
  if (outcome.kind !== 'failed') return undefined
  return outcome.hint === undefined ? outcome.message : `${outcome.message} ${outcome.hint}`
}

function changedAt(news: KeptNews, before: BoardCard | undefined): string | undefined {
  return 'event' in news && news.event.kind === 'state.changed' ? news.event.at : before?.changedAt
}

function byUrgency(a: BoardCard, b: BoardCard): number {
  const [left, right] = [a.state.state === 'waiting', b.state.state === 'waiting']
  if (left !== right) return left ? -1 : 1
  return a.changedAt < b.changedAt ? 1 : -1
}
