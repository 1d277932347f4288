import { randomUUID } from 'node:crypto'
import type { Roster } from '#live'
import type { SessionEvent, SessionView } from '#model'
import type { LiveEvent, SubscribeOptions, Subscription } from '#wire'
import type { Board } from './board.ts'

/** All who listen get the same object for the same event: it is written down once, however many devices it goes to. */
const events = new WeakMap<SessionEvent, LiveEvent>()

function toLiveEvent(session: string, run: string, event: SessionEvent): LiveEvent {
  const known = events.get(event)
  if (known !== undefined) return known
  const made: LiveEvent = { kind: 'live.event', session, event, cursor: `${run}.${event.seq}` }
  events.set(event, made)
  return made
}

/** Which live session, and how to find it. */
export interface LiveSubject {
  readonly id: string
  readonly find: (id: string) => SessionView | undefined
  /** How its last run ended, when it is not live and that is worth telling. */
  readonly last?: SessionView | undefined
}

/**
 * What happens in one live session. Who comes back with a cursor of the same run is told how it stands now, which holds
 * everything that was missed; then every event once.
 */
export function subscribeToLive(
  roster: Roster,
  { id, find, last }: LiveSubject,
  options: SubscribeOptions,
): Subscription {
  let { cursor } = options
  let seen: { readonly sessionId: string; readonly run: string; readonly seq: number } | undefined
  const tell = (event: LiveEvent): void => {
    ;({ cursor } = event)
    void options.onEvent(event)
  }

  function see({ sessionId, run, seq }: SessionView): void {
    seen = { sessionId, run, seq }
  }

  function tellView(view: SessionView): void {
    see(view)
    tell({ kind: 'live.view', view, cursor: `${view.run}.${view.seq}` })
  }

  const stop = roster.listen((sessionId, news) => {
    if ('view' in news) {
      if (isNamed(news.view, id)) tellView(news.view)
      return
    }
    const { event } = news
    if (seen?.sessionId === sessionId) {
      if (event.seq <= seen.seq) return
      seen = { ...seen, seq: event.seq }
      tell(toLiveEvent(sessionId, seen.run, event))
    } else if (event.kind === 'session.renamed' && event.agentSessionId === id) {
      const view = find(id)
      if (view !== undefined) tellView(view)
    }
  })
  const view = find(id)
  if (view === undefined && last !== undefined) tell({ kind: 'live.view', view: last, cursor: '0' })
  else if (view === undefined) tell({ kind: 'live.none', session: id, cursor: '0' })
  else if (cursor === `${view.run}.${view.seq}`) see(view)
  else tellView(view)
  tell({ kind: 'caught-up', cursor: cursor ?? '0' })
  return {
    get cursor() {
      return cursor
    },
    close: stop,
  }
}

/** Whether a live session goes by this id: ours, or the one that its agent took. */
export function isNamed({ sessionId, agentSessionId }: SessionView, id: string): boolean {
  return sessionId === id || agentSessionId === id
}

export interface BoardTopic {
  subscribe(options: SubscribeOptions): Subscription
}

/** The board as it changes. It is small: who comes back is told all of it again. */
export function createBoardTopic(board: Board): BoardTopic {
  const run = randomUUID().slice(0, 8)
  let number = 0
  const listeners = new Set<(event: LiveEvent) => void>()
  board.listen((change) => {
    const cursor = `${run}.${++number}`
    const event: LiveEvent =
      change.kind === 'changed'
        ? { kind: 'board.changed', card: change.card, cursor }
        : { kind: 'board.removed', session: change.sessionId, cursor }
    for (const listener of listeners) listener(event)
  })
  return {
    subscribe(options) {
      let { cursor } = options
      const tell = (event: LiveEvent): void => {
        ;({ cursor } = event)
        void options.onEvent(event)
      }
      const now = `${run}.${number}`
      if (cursor !== now) {
        if (cursor !== undefined) tell({ kind: 'reset', reason: 'restarted', cursor: now })
        for (const card of board.list()) tell({ kind: 'board.changed', card, cursor: now })
      }
      tell({ kind: 'caught-up', cursor: now })
      listeners.add(tell)
      return {
        get cursor() {
          return cursor
        },
        close: () => void listeners.delete(tell),
      }
    },
  }
}
