import type { Signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { SessionSummary } from '#model'
import type { Digest } from '#wire'
import { isTyping } from './keys.ts'
import type { Route } from './route.ts'
import type { SessionList } from './session-list.ts'
import { useShared, type Shared } from './shared.ts'

interface Of {
  readonly session: SessionSummary | undefined
  readonly place: Extract<Route, { kind: 'session' }>
  readonly list: SessionList
  readonly onFind: () => void
  readonly onOutline: () => void
  readonly digest: Signal<Digest | undefined>
}

/** What keys do while a session is open. */
export function useSessionKeys(of: Of): void {
  const shared = useShared()
  // The page may be drawn anew between two keys of a sequence.
  const last = useRef('')
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f' && of.place.show !== 'facts') {
        event.preventDefault()
        of.onFind()
        return
      }
      const isElsewhere = document.querySelector('dialog[open], [role="dialog"]') !== null
      if (isTyping(event) || isElsewhere || event.ctrlKey || event.metaKey || event.altKey) return
      const both = `${last.current} ${event.key}`
      last.current = event.key
      const run = RUNS[both] ?? (event.key === 'g' ? undefined : RUNS[event.key])
      if (run === undefined) return
      event.preventDefault()
      run(of, shared)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

const RUNS: Readonly<Record<string, (of: Of, shared: Shared) => void>> = {
  f: ({ onFind }) => onFind(),
  o: ({ onOutline }) => onOutline(),
  i: ({ place }, { go }) =>
    go({ kind: 'session', id: place.id, ...(place.show === 'facts' ? {} : { show: 'facts' as const }) }),
  j: () => tell('next-prompt'),
  k: () => tell('previous-prompt'),
  e: () => tell('toggle-calls'),
  G: () => tell('to-end'),
  'g g': () => tell('to-start'),
  n: () => tell('next-found'),
  N: () => tell('previous-found'),
  r: () => tell('rename'),
  x: ({ session, list }, shared) => {
    if (session !== undefined) void star(session, list, shared)
  },
}

async function star(session: SessionSummary, list: SessionList, { throughline, say }: Shared): Promise<void> {
  try {
    const changed = await throughline.star(session, session.starred !== true)
    list.put(changed)
    say(changed.starred === true ? 'Starred' : 'Not starred any more')
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
  }
}

type SessionWish =
  | 'next-prompt'
  | 'previous-prompt'
  | 'toggle-calls'
  | 'to-end'
  | 'to-start'
  | 'next-found'
  | 'previous-found'
  | 'rename'

/** Whoever shows a part of the session hears what a key asks of it. */
function tell(wish: SessionWish): void {
  dispatchEvent(new CustomEvent('throughline-wish', { detail: wish }))
}

/** What is listened to belongs to what is on the screen: a key that is pressed right after it changed means the new. */
export function useWishes(onWish: (wish: string) => void): void {
  useLayoutEffect(() => {
    const listen = (event: Event): void => {
      if (event instanceof CustomEvent && typeof event.detail === 'string') onWish(event.detail)
    }
    addEventListener('throughline-wish', listen)
    return () => removeEventListener('throughline-wish', listen)
  })
}
