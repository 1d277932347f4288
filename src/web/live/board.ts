import type { Signal } from '@preact/signals'
import type { RemoteThroughline } from '#client'
import type { BoardCard, LiveEvent } from '#wire'
import { followCalls } from '../calling/calls.ts'
import type { Cards, Shared } from '../shared.ts'

/** Puts the board together from what is told of it. What comes together is shown together. */
export interface BoardFold {
  take(event: LiveEvent): void
  /** The board as it was told so far, also where it is not shown yet. */
  whole(): Cards
}

/** `soon`: runs what it is given a little later, once. */
export function createBoardFold(cards: Signal<Cards>, soon: (run: () => void) => void): BoardFold {
  let now = new Map<string, BoardCard>()
  /** After a reset the old board stays until the new one is whole. */
  let coming: Map<string, BoardCard> | undefined = new Map()
  let isWaiting = false

  function changed(): void {
    if (coming !== undefined || isWaiting) return
    isWaiting = true
    soon(() => {
      isWaiting = false
      cards.value = new Map(now)
    })
  }

  return {
    take(event) {
      switch (event.kind) {
        case 'reset':
          coming = new Map()
          return
        case 'board.changed':
          ;(coming ?? now).set(event.card.sessionId, event.card)
          changed()
          return
        case 'board.removed':
          ;(coming ?? now).delete(event.session)
          changed()
          return
        case 'caught-up':
          if (coming !== undefined) now = coming
          coming = undefined
          changed()
          return
        case 'entry.added':
        case 'session.changed':
        case 'session.removed':
        case 'hit.found':
        case 'live.view':
        case 'live.event':
        case 'live.none':
        case 'documents.changed':
      }
    },
    whole: () => new Map(now),
  }
}

/** Keeps `cards` current for as long as the app is open, and calls a person who looks elsewhere. */
export function followBoard(
  shared: Pick<Shared, 'sessions' | 'go'> & { readonly throughline: Pick<RemoteThroughline, 'subscribe'> },
  cards: Signal<Cards>,
): void {
  let isCalling = false
  const fold = createBoardFold(cards, (run) => setTimeout(run, 16))
  shared.throughline.subscribe(
    { kind: 'board' },
    {
      onEvent(event) {
        fold.take(event)
        if (event.kind !== 'caught-up' || isCalling) return
        isCalling = true
        // What there was is no news; what comes until it is shown is.
        const known = fold.whole()
        setTimeout(() => followCalls(cards, known, shared), 50)
      },
      // Who ends this subscription ends that of the list too, and there it is said.
      onError: () => {},
    },
  )
}
