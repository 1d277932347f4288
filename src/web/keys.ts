import type { Signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isHeld } from './session-state.ts'
import type { Shared } from './shared.ts'
import { nextTheme } from './theme.ts'

/** What lies over the app. */
export type Overlay = 'none' | 'palette' | 'keys' | 'start'

/** Something that can be done from the palette, and mostly by a key. */
export interface Action {
  readonly id: string
  readonly label: string
  readonly keys?: string
  readonly run: () => void
}

/** What keys do everywhere. Those of a session are listened to where the session is shown. */
export function toActions(of: {
  readonly shared: Shared
  readonly overlay: Signal<Overlay>
  readonly isSideOpen: Signal<boolean>
}): readonly Action[] {
  const { shared, overlay, isSideOpen } = of
  return [
    { id: 'start', label: 'New session', keys: 'n', run: () => (overlay.value = 'start') },
    {
      id: 'search',
      label: 'Search every session',
      keys: '/',
      run: () => shared.go({ kind: 'search', q: '' }),
    },
    { id: 'home', label: 'Start page', keys: 'g h', run: () => shared.go({ kind: 'home' }) },
    {
      id: 'board',
      label: 'Board: what runs and what waits for you',
      keys: 'g b',
      run: () => shared.go({ kind: 'board' }),
    },
    { id: 'memory', label: 'Memory', keys: 'g m', run: () => shared.go({ kind: 'memory' }) },
    { id: 'usage', label: 'Usage', keys: 'g u', run: () => shared.go({ kind: 'usage' }) },
    { id: 'team', label: 'Team', keys: 'g t', run: () => shared.go({ kind: 'team' }) },
    { id: 'next', label: 'Next session', keys: 'J', run: () => tell('next-session') },
    { id: 'previous', label: 'Previous session', keys: 'K', run: () => tell('previous-session') },
    { id: 'waiting', label: 'Next session that waits for you', keys: 'w', run: () => goToWaiting(shared) },
    {
      id: 'filter',
      label: 'Filter the list of sessions',
      keys: 's',
      run() {
        isSideOpen.value = true
        setTimeout(() => document.getElementById('filter')?.focus())
      },
    },
    {
      id: 'theme',
      label: 'Light, dark or as the system has it',
      keys: 't',
      run: () => shared.say(`Colours: ${nextTheme()}`),
    },
    { id: 'keys', label: 'Keyboard shortcuts', keys: '?', run: () => (overlay.value = 'keys') },
  ]
}

/** Listens to keys. A sequence of two is as good as one key. */
export function useKeys(actions: readonly Action[], overlay: Signal<Overlay>): void {
  // The app may be drawn anew between two keys of a sequence.
  const last = useRef('')
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        overlay.value = overlay.value === 'palette' ? 'none' : 'palette'
        return
      }
      if (overlay.value !== 'none' || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey)
        return
      // What lies over the app has the keys.
      if (document.querySelector('dialog[open]') !== null) return
      const both = `${last.current} ${event.key}`
      last.current = event.key
      const action =
        actions.find(({ keys }) => keys === both) ?? actions.find(({ keys }) => keys === event.key)
      // While somebody looks for something, `n` is the next place of it.
      if (action === undefined || (event.key === 'n' && document.getElementById('find') !== null)) return
      event.preventDefault()
      last.current = ''
      action.run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

/** Whether a key is meant for a field. */
export function isTyping(event: Event): boolean {
  const { target } = event
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  )
}

/** The list of sessions knows which one comes next. */
function tell(wish: string): void {
  dispatchEvent(new CustomEvent('throughline-wish', { detail: wish }))
}

function goToWaiting({ sessions, board, route, go, say }: Shared): void {
  const cards = board.value
  const here = [...cards.values()].flatMap(({ sessionId: id, state }) =>
    state.state === 'waiting' ? [{ id }] : [],
  )
  const others = (sessions.value ?? []).filter(
    ({ id, live }) => !isHeld(cards.get(id)) && live?.status === 'waiting',
  )
  const waiting = [...here, ...others]
  const place = route.value
  const at = place.kind === 'session' ? waiting.findIndex(({ id }) => id === place.id) : -1
  const next = waiting[(at + 1) % Math.max(1, waiting.length)]
  if (next === undefined) say('No session waits for you.')
  else go({ kind: 'session', id: next.id })
}
