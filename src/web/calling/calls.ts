import type { ReadonlySignal } from '@preact/signals'
import type { Attention } from '#model'
import type { BoardCard } from '#wire'
import { outwardNameOf } from '../live/card-name.ts'
import type { Cards, Shared } from '../shared.ts'
import { onCallOpened, openCaller, type Call, type Caller } from './callers.ts'
import { giveUp, notifying } from './notifying.ts'

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
 * Calls a person whose page is hidden, once for each thing that waits, and takes the call back when it is settled,
 * also one that was shown before the page was loaded again. What waits on the `known` cards is no news.
 */
export function followCalls(
  cards: ReadonlySignal<Cards>,
  known: Cards,
  { sessions, go }: Pick<Shared, 'sessions' | 'go'>,
): void {
  const seen = new Set(toCalls(known.values()).map(({ id }) => id))
  /** One thing after another: what is taken back was shown before. */
  let last: Promise<unknown> = Promise.resolve()
  onCallOpened((sessionId) => go({ kind: 'session', id: sessionId }))

  cards.subscribe((all) => {
    const calls = toCalls(all.values())
    const fresh = calls.filter(({ id }) => !seen.has(id))
    for (const { id } of fresh) seen.add(id)
    const news = document.hidden ? fresh : []
    if (notifying.peek().kind !== 'on') return
    const open = new Set(calls.map(({ id }) => id))
    const before = last
    last = before.then(() => settle(open, news, all)).catch(giveUp)
  })

  async function settle(open: ReadonlySet<string>, news: readonly Call[], all: Cards): Promise<void> {
    const caller = await openCaller()
    await caller.keepOnly(open)
    for (const call of news) await show(caller, call, all)
  }

  async function show(caller: Caller, call: Call, all: Cards): Promise<void> {
    const card = all.get(call.sessionId)
    if (card === undefined) return
    await caller.show(outwardNameOf(card, sessions.peek() ?? []), call)
  }
}
