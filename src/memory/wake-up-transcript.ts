import {
  type CarriedMessage,
  type LeftMessages,
  renderLine,
  renderTranscript,
  type WakeUpLine,
  type WakeUpTranscript,
} from '#model'
import { toShortened } from './shortened.ts'
import { toSpokenTurns, type SpokenMessage, type SpokenTurn } from './transcript.ts'
import { costOf, sumCosts, type Cost, type Purse } from './wake-up-budget.ts'

/** The session before, as words. */
export interface PreviousSession {
  readonly sessionId: string
  /** When its last message was said. */
  readonly ended: string
  readonly messages: readonly SpokenMessage[]
}

export interface PickedTranscript {
  /** Absent when nothing of it fits. */
  readonly transcript?: WakeUpTranscript
  readonly carried: readonly CarriedMessage[]
  readonly left: readonly LeftMessages[]
}

export interface TranscriptLimits {
  readonly purse: Purse
  /** Tokens of one message at most. */
  readonly item: number
  /** A text as it may leave; `undefined` when it may not. */
  readonly clean: (text: string) => string | undefined
}

interface Line {
  readonly message: SpokenMessage
  readonly text: string
  readonly cost: Cost
  readonly form: 'full' | 'shortened'
}

/** How much of the budget the end of a session has before what is relevant in its middle. */
const SHARE_OF_THE_END = 0.6

const GAP = costOf(`${renderLine({ leftOut: 99_999_999 })}\n`)

/**
 * What is kept of a session: all of it, or its last turn, its first, the ones before the last, and the most relevant
 * of the rest, as far as the budget goes. It is cut between turns, and where something is left out a line says how
 * much. Of a first or last turn that is too long by itself, its beginning and its end are kept.
 */
export function pickTranscript(previous: PreviousSession, limits: TranscriptLimits): PickedTranscript {
  const turns = toSpokenTurns(previous.messages)
  const kept = new Map<string, Line>()
  const refused = new Set<string>()
  const { purse } = limits
  const lines = (turn: SpokenTurn, item: number): readonly Line[] =>
    turn.flatMap((message) => {
      const line = toLine(message, item, limits.clean)
      if (line === undefined) refused.add(message.id)
      return line ?? []
    })
  const keep = (chosen: readonly Line[], gaps: number): boolean => {
    const cost = sumCosts([...chosen.map((line) => line.cost), ...Array.from({ length: gaps }, () => GAP)])
    if (chosen.length === 0 || !purse.spend(cost)) return false
    for (const line of chosen) kept.set(line.message.id, line)
    return true
  }
  /** A turn costs one gap beside itself, and one that nobody will fit in is not looked at. */
  const take = (turn: SpokenTurn | undefined): boolean => {
    if (turn === undefined || turn.some(({ id }) => kept.has(id))) return true
    return turn.length <= purse.tokens && keep(lines(turn, limits.item), 1)
  }
  const takeSome = (turn: SpokenTurn | undefined): boolean => {
    if (turn === undefined || take(turn)) return true
    return narrower(turn, limits.item).some(({ messages, item }) => keep(lines(messages, item), 2))
  }

  if (!purse.spend(frameCost(previous))) return toPicked(previous, kept, refused)
  const isSmall = previous.messages.reduce((all, { text }) => all + text.length, 0) <= purse.tokens * 16
  if (isSmall && keep(lines(previous.messages, limits.item), refused.size))
    return toPicked(previous, kept, refused)

  if (!purse.spend(GAP)) return toPicked(previous, kept, refused)
  const reserve = purse.tokens * (1 - SHARE_OF_THE_END)
  takeSome(turns.at(-1))
  takeSome(turns[0])
  const backwards = turns.slice(1, -1).toReversed()
  for (const turn of backwards) if (purse.tokens <= reserve || !take(turn)) break
  for (const turn of byScore(turns)) if (purse.tokens > GAP.tokens) take(turn)
  for (const turn of backwards) if (purse.tokens <= GAP.tokens || !take(turn)) break
  return toPicked(previous, kept, refused)
}

/** Everything but the lines, with room for any number of them in its attribute. */
function frameCost({ sessionId, ended }: PreviousSession): Cost {
  const frame = renderTranscript({ sessionId, ended, lines: [] })
  return costOf(`\n\n${frame.replace('message-count="0"', 'message-count="99999999"')}`)
}

/** Turns with something relevant in them, the most relevant first. */
function byScore(turns: readonly SpokenTurn[]): readonly SpokenTurn[] {
  return turns
    .map((turn, index) => ({ turn, index, score: Math.max(...turn.map(({ score }) => score ?? 0)) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || b.index - a.index)
    .map(({ turn }) => turn)
}

interface Narrower {
  readonly messages: SpokenTurn
  readonly item: number
}

/** Less and less of a turn: shorter messages, then only its first and its last ones. */
function narrower(turn: SpokenTurn, item: number): readonly Narrower[] {
  const items = [item, item / 4, item / 16].map((tokens) => Math.max(24, Math.floor(tokens)))
  const ends = [turn.length - 1, 8, 3, 1].filter((count) => count < turn.length)
  return [...new Set(ends)].flatMap((count) =>
    items.map((tokens) => ({
      messages: [...turn.slice(0, 1), ...turn.slice(Math.max(1, turn.length - count))],
      item: Math.min(item, tokens),
    })),
  )
}

function toLine(message: SpokenMessage, item: number, clean: TranscriptLimits['clean']): Line | undefined {
  const { speaker, name } = message
  const render = (text: string): string => `${renderLine({ speaker, name, text })}\n`
  const shortened = toShortened(message.text, {
    clean,
    fits: (text) => costOf(render(text)).tokens <= item,
    most: item * 32,
  })
  if (shortened === undefined) return undefined
  return { message, ...shortened, cost: costOf(render(shortened.text)) }
}

function toPicked(
  { sessionId, ended, messages }: PreviousSession,
  kept: ReadonlyMap<string, Line>,
  refused: ReadonlySet<string>,
): PickedTranscript {
  const lines: WakeUpLine[] = []
  const carried: CarriedMessage[] = []
  const left: LeftMessages[] = []
  let gap = 0
  for (const message of messages) {
    const line = kept.get(message.id)
    if (line === undefined) {
      const reason = refused.has(message.id) ? 'not-redacted' : 'budget'
      const last = gap > 0 ? left.at(-1) : undefined
      if (last?.reason === reason) left[left.length - 1] = { ...last, to: message.id, count: last.count + 1 }
      else left.push({ from: message.id, to: message.id, count: 1, reason })
      gap += 1
      continue
    }
    if (gap > 0) lines.push({ leftOut: gap })
    gap = 0
    lines.push({ speaker: message.speaker, name: message.name, text: line.text })
    carried.push({ id: message.id, tokens: line.cost.tokens, form: line.form })
  }
  if (gap > 0) lines.push({ leftOut: gap })
  if (carried.length === 0) return { carried, left }
  return { transcript: { sessionId, ended, lines }, carried, left }
}
