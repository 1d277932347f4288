import { signal, type ReadonlySignal } from '@preact/signals'
import { byActivity, isWaitingForYou, type SessionSummary } from '#model'
import type { LiveEvent } from '#wire'
import { nameFolders } from './folder-names.ts'
import { isHeld } from './session-state.ts'
import type { Cards } from './shared.ts'

/** The list as events tell it. Changes that come together are shown together. */
export interface SessionList {
  readonly sessions: ReadonlySignal<readonly SessionSummary[] | undefined>
  /** What a first answer had, before any event. */
  begin(sessions: readonly SessionSummary[]): void
  take(event: LiveEvent): void
  /** One session is known to be like this now. */
  put(session: SessionSummary): void
}

/** `soon`: runs what it is given a little later, once. */
export function createSessionList(soon: (run: () => void) => void): SessionList {
  const sessions = signal<readonly SessionSummary[] | undefined>(undefined)
  let byId = new Map<string, SessionSummary>()
  /** After a reset the old list stays until the new one is whole. */
  let coming: Map<string, SessionSummary> | undefined = new Map()
  let isWaiting = false

  function show(): void {
    isWaiting = false
    nameFolders([...byId.values()])
    sessions.value = [...byId.values()].toSorted(byActivity)
  }

  function changed(): void {
    if (isWaiting) return
    isWaiting = true
    soon(show)
  }

  return {
    sessions,
    begin(first) {
      if (sessions.value !== undefined) return
      byId = new Map(first.map((session) => [session.id, session]))
      show()
    },
    take(event) {
      switch (event.kind) {
        case 'reset':
          coming = new Map()
          return
        case 'session.changed':
          ;(coming ?? byId).set(event.session.id, event.session)
          if (coming === undefined) changed()
          return
        case 'session.removed':
          ;(coming ?? byId).delete(event.id)
          if (coming === undefined) changed()
          return
        case 'caught-up':
          if (coming !== undefined) byId = coming
          coming = undefined
          changed()
          return
        case 'entry.added':
        case 'hit.found':
        case 'live.view':
        case 'live.event':
        case 'live.none':
        case 'board.changed':
        case 'board.removed':
        case 'documents.changed':
      }
    },
    put(session) {
      byId.set(session.id, session)
      changed()
    },
  }
}

/**
 * How many sessions cannot go on without a person. Of what is run here the board knows, of the others their agent.
 */
export function countWaiting(sessions: readonly SessionSummary[], board: Cards): number {
  const others = sessions.filter(({ id, live }) => !isHeld(board.get(id)) && isWaitingForYou(live))
  return (
    others.length +
    [...board.values()].filter(({ state, may }) => state.state === 'waiting' && may !== 'read').length
  )
}
