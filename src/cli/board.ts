import type { SessionState } from '#model'
import type { BoardCard } from '#wire'
import { safeLine } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { withLive } from './live-session.ts'
import { toAge, toShortId, toShortPath } from './short.ts'
import type { Site } from './site.ts'
import { toTable, type Cell } from './table.ts'

/** `throughline board` */
export async function board(site: Site, values: Values, console: Console): Promise<number> {
  return await withLive(site, async (throughline) => {
    const cards = await throughline.live.board()
    if (values.flag('json')) await console.out.write(toJsonLine({ cards }))
    else if (cards.length === 0) console.say('No session is run here, and none waits for you.')
    else await console.out.write(toBoardTable(cards, console))
    return 0
  })
}

function toBoardTable(cards: readonly BoardCard[], console: Console): string {
  const columns = [
    { title: '' },
    { title: 'state', share: 2 },
    { title: 'agent' },
    { title: 'mode' },
    { title: 'workdir', share: 2 },
    { title: 'since', align: 'right' as const },
    { title: 'id' },
  ]
  const rows = cards.map((card): readonly Cell[] => [
    toMark(card.state),
    { text: toState(card) },
    { text: safeLine(card.agent) },
    { text: card.mode ?? '–', style: 'dim' },
    { text: toShortPath(card.workdir, console.home), style: 'dim' },
    { text: toAge(card.changedAt, console.now) },
    { text: toShortId(card.sessionId), style: 'code' },
  ])
  return toTable(columns, rows, console)
}

function toMark({ state }: SessionState): Cell {
  switch (state) {
    case 'pending':
    case 'running':
      return { text: '●', style: 'live' }
    case 'waiting':
      return { text: '◆', style: 'warning' }
    case 'idle':
      return { text: '○', style: 'live' }
    case 'ended':
      return { text: '·', style: 'dim' }
  }
}

function toState({ state, where, origin, attentions, lastTurn, trouble, waitingPrompts }: BoardCard): string {
  const parts: string[] = [state.state === 'ended' ? `ended (${state.reason})` : state.state]
  if (attentions.length > 1) parts.push(`${attentions.length} questions`)
  if (origin !== undefined)
    parts.push(`on ${safeLine(origin.mine ? origin.machine : `${origin.machine} of ${origin.person}`)}`)
  else if (where === 'elsewhere') parts.push('in a terminal')
  if (waitingPrompts > 0) parts.push(`${waitingPrompts} queued`)
  if (state.state === 'idle' && lastTurn !== undefined && lastTurn !== 'answered')
    parts.push(`last turn ${lastTurn}`)
  if (trouble !== undefined) parts.push(safeLine(trouble))
  return parts.join(' · ')
}
