import type { ReadonlySignal } from '@preact/signals'
import type { Attention } from '#model'
import type { BoardCard } from '#wire'
import type { Cards, Shared } from '../shared.ts'
import { outwardNameOf } from './card-name.ts'

/** One thing that waits for a person, and what may be said of it where anybody could be looking. */
export interface Call {
  readonly id: string
  readonly sessionId: string
  /** The tool, or that there is a question. Never what it would do. */
  readonly words: string
}

const KEY = 'throughline.notify'

/** Whether this browser calls a person who looks elsewhere. `no`: it cannot, or was told never to. */
export function readNotifying(): 'on' | 'off' | 'blocked' | 'no' {
  if (!('Notification' in globalThis)) return 'no'
  if (Notification.permission === 'denied') return 'blocked'
  return Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on' ? 'on' : 'off'
}

/** Asks the browser for it, which asks the person; or stops. Only ever from a button. */
export async function setNotifying(wanted: 'on' | 'off'): Promise<void> {
  localStorage.setItem(KEY, wanted)
  if (wanted === 'on') await Notification.requestPermission()
}

/** Everything that waits for a person. A card that still says so after its last answer waits for nothing. */
export function toCalls(cards: Iterable<BoardCard>): readonly Call[] {
  // What is shared only to be read waits for somebody else.
  const mine = [...cards].filter(({ may }) => may !== 'read')
  return mine.flatMap(({ sessionId, attentions }) =>
    attentions.map((attention) => ({ id: attention.id, sessionId, words: wordsOf(attention) })),
  )
}

function wordsOf({ ask }: Attention): string {
  return ask.kind === 'permission' ? `Asks for ${ask.tool.slice(0, 60)}` : 'Asks a question'
}

/**
 * Calls a person whose page is hidden, once for each thing that waits, and takes the call back when it is settled.
 * What waited before the page was opened is no news.
 */
export function followCalls(
  cards: ReadonlySignal<Cards>,
  { sessions, go }: Pick<Shared, 'sessions' | 'go'>,
): void {
  const seen = new Set<string>()
  const shown = new Map<string, Notification>()
  let isFirst = true

  cards.subscribe((all) => {
    const calls = toCalls(all.values())
    for (const call of calls) {
      if (seen.has(call.id)) continue
      seen.add(call.id)
      if (!isFirst && document.hidden && readNotifying() === 'on') show(call, all)
    }
    for (const [id, notification] of shown) {
      if (calls.some((call) => call.id === id)) continue
      notification.close()
      shown.delete(id)
    }
    isFirst = false
  })

  function show({ id, sessionId, words }: Call, all: Cards): void {
    const card = all.get(sessionId)
    if (card === undefined) return
    try {
      // The same tag from another tab takes the place of this one: nobody is called twice.
      const notification = new Notification(outwardNameOf(card, sessions.peek() ?? []), {
        body: words,
        tag: id,
        icon: './icon-192.png',
      })
      notification.addEventListener('click', () => {
        window.focus()
        go({ kind: 'session', id: sessionId })
        notification.close()
      })
      shown.set(id, notification)
    } catch {
      // Browsers of phones have the interface and let only service workers use it; there is none here.
    }
  }
}
