import { BEFORE_ANSWERS, createAnswerTracker, type AnswerTracker } from './answers.ts'
import { toMessages } from './assemble.ts'
import type { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import type { Passage } from './message.ts'
import { appendDamage, type Damage } from './place.ts'
import { placeOf, type Reading } from './reading.ts'
import { createRepeatTracker, type RepeatTracker } from './repeats.ts'

/** A turn that grew beyond this is told in pieces, at a moment when no call waits for its result. */
const SOFT_LIMIT = 8 * 1024 * 1024
/** …and beyond this at any moment, so that memory has a ceiling. */
const HARD_LIMIT = 64 * 1024 * 1024

/** Puts readings together about a turn at a time. */
export interface PassageFold {
  /** Takes in the next reading of the file, and gives the passages that are whole before it, if any are. */
  add(reading: Reading): readonly Passage[] | undefined
  /** What is left at the end. */
  finish(): readonly Passage[] | undefined
}

/** What is known of a session as a whole. */
export type Way = Pick<Chain, 'delivered'> & {
  readonly spine: Pick<Chain['spine'], 'has'>
  /** Ids that more than one line has. Default: those in a piece that is put together at once. */
  readonly repeated?: ReadonlySet<string>
}

/** Folds a session into passages, from its beginning. `way` says what is on the way to its end; the rest is marked. */
export function createPassageFold(way: Way): PassageFold {
  let held: Reading[] = []
  let bytes = 0
  const waiting = new Set<string>()
  const answers = createAnswerTracker(BEFORE_ANSWERS)
  const repeats = way.repeated && createRepeatTracker(way.repeated)

  function take(): readonly Passage[] | undefined {
    if (held.length === 0) return undefined
    const passages = toPassages(held, way, { answers, repeats })
    held = []
    bytes = 0
    return passages
  }

  return {
    add(reading) {
      const full = bytes > HARD_LIMIT || (bytes > SOFT_LIMIT && waiting.size === 0)
      const whole = full || beginsTurn(reading) ? take() : undefined
      bytes += placeOf(reading).length
      if (reading.kind === 'entry') noteCalls(reading.entry, waiting)
      held.push(reading)
      return whole
    },
    finish: take,
  }
}

/** Messages with the damage that stands between them. */
export function toPassages(
  readings: readonly Reading[],
  way: Way | undefined,
  before: { readonly answers?: AnswerTracker; readonly repeats?: RepeatTracker | undefined } = {},
): readonly Passage[] {
  const entries = readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
  const damage: Damage[] = []
  for (const reading of readings) if (reading.kind === 'damage') appendDamage(damage, reading.damage)
  const passages: Passage[] = []
  let told = 0
  const options = {
    ...(way && { path: way.spine, delivered: way.delivered }),
    ...(before.answers && { answers: before.answers }),
    ...(before.repeats && { repeats: before.repeats }),
  }
  for (const message of toMessages(entries, options)) {
    const offset = message.entries[0]?.place.offset ?? 0
    for (let next = damage[told]; next && next.offset < offset; next = damage[++told]) {
      passages.push({ kind: 'damage', damage: next })
    }
    passages.push(message)
  }
  return [...passages, ...damage.slice(told).map((rest): Passage => ({ kind: 'damage', damage: rest }))]
}

/** Whether a reader who asks for the last so many messages counts this one, or takes it for what surrounds them. */
export function countsAsMessage({ kind }: Entry): boolean {
  return (
    kind !== 'context' &&
    kind !== 'record' &&
    kind !== 'injection' &&
    kind !== 'delegated' &&
    kind !== 'unknown'
  )
}

function beginsTurn(reading: Reading): boolean {
  return reading.kind === 'entry' && reading.entry.kind === 'prompt' && !reading.entry.midTurn
}

function noteCalls(entry: Entry, waiting: Set<string>): void {
  if (entry.kind === 'reply') {
    for (const block of entry.blocks) if (block.kind === 'tool-use') waiting.add(block.id)
  } else if (entry.kind === 'result') {
    for (const block of entry.blocks) if (block.kind === 'tool-result') waiting.delete(block.toolUseId)
  } else if (entry.kind === 'prompt' && !entry.midTurn) waiting.clear()
}
