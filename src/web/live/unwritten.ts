import { isSpoken, type Block, type DeltaFact, type Entry, type MessageFact, type Reading } from '#model'
import type { Told } from './told.ts'
import { indexWritten } from './written.ts'

/** What of a session is held from disk. */
export interface WrittenStretch {
  readonly readings: readonly Reading[]
  readonly atStart: boolean
  readonly atEnd: boolean
}

/** Something of a person that nobody has taken up yet. */
export interface ShownPrompt {
  readonly id: string
  readonly blocks: readonly Block[]
  readonly at: string
}

/** The agent's word for an entry that is not written, which says how it stands with it. */
export const UNWRITTEN = {
  /** Told, and on its way to the disk. */
  told: 'live/told',
  /** A prompt that is on its way to the agent. */
  sending: 'live/sending',
  /** Told, and the turn is over without it having been written. */
  lost: 'live/lost',
} as const

export interface UnwrittenOptions {
  readonly told: readonly Told[]
  /** Prompts that nobody has taken up, and that are shown where they will stand. */
  readonly prompts: readonly ShownPrompt[]
  /** Keys that were found on disk before, by a window that may have moved on. */
  readonly known: ReadonlySet<string>
  /** What belongs to this turn or an earlier one would be written by now. */
  readonly settledTurn: number
  /** What keeps an unwritten thing the same object from one time to the next. */
  readonly cache: Map<string, Reading>
}

/**
 * What is written with what is not, each thing once and in the order it was said. Of what is told, those that are
 * found on disk are left to the disk; the others stand after the one they were said after.
 */
export function withUnwritten(stretch: WrittenStretch, options: UnwrittenOptions): readonly Reading[] {
  const { readings } = stretch
  if (!stretch.atEnd && readings.length > 0) return readings
  const { told, known } = options
  const find = indexWritten(readings)
  const places = told.map(find)
  /** Of every told thing, the first place on disk of anything that was said later. */
  const nexts: (number | undefined)[] = []
  let next: number | undefined
  for (let at = told.length - 1; at >= 0; at--) {
    nexts[at] = next
    next = places[at] ?? next
  }
  const lastSpoken = readings.findLastIndex((reading) => reading.kind === 'entry' && isSpoken(reading.entry))
  const between = new Map<number, Reading[]>()
  const end: Reading[] = []
  let anchor: number | undefined
  let isBelow = stretch.atStart
  for (const [at, one] of told.entries()) {
    const place = places[at]
    if (place !== undefined) {
      anchor = Math.max(anchor ?? place, place)
      isBelow = true
    } else if (!known.has(one.key)) {
      const reading = toReading(one, options, readings)
      // An agent writes in the order in which it speaks: what stands behind the last thing told was said later.
      const isOvertaken = anchor !== undefined && anchor < lastSpoken
      if (nexts[at] === undefined && !isOvertaken) {
        if (isBelow || !isEarlier(one, stretch, options.settledTurn)) end.push(reading)
      } else if (isBelow) {
        const after = anchor ?? (nexts[at] ?? 0) - 1
        between.set(after, [...(between.get(after) ?? []), reading])
      }
    }
  }
  const names = new Set(told.map(({ fact }) => fact.id))
  for (const prompt of options.prompts) {
    const isThere = names.has(prompt.id) || known.has(prompt.id) || find(toldOf(prompt)) !== undefined
    if (!isThere) end.push(promptToReading(prompt, options, readings))
  }
  if (between.size === 0 && end.length === 0) return readings
  const out: Reading[] = [...(between.get(-1) ?? [])]
  for (const [at, reading] of readings.entries()) out.push(reading, ...(between.get(at) ?? []))
  return [...out, ...end]
}

/** Pieces of what is being said that the disk does not have. An agent may write a thing before it has told all of it. */
export function withoutWritten(
  pieces: readonly DeltaFact[],
  { readings }: WrittenStretch,
): readonly DeltaFact[] {
  if (pieces.length === 0) return pieces
  const find = indexWritten(readings)
  return pieces.filter(({ messageId, block }) => {
    const fact: MessageFact = { kind: 'message', messageId, block, role: 'agent', blocks: [] }
    return find({ key: '', fact, at: '', turn: 0, isCut: true, isMidTurn: false }) === undefined
  })
}

/** The turn that is told was over before anything that is held from disk was written. */
function isEarlier(told: Told, { readings }: WrittenStretch, settledTurn: number): boolean {
  if (told.turn > settledTurn) return false
  const first = readings.find((reading) => reading.kind === 'entry' && reading.entry.at !== undefined)
  const at = first?.kind === 'entry' ? first.entry.at : undefined
  return at !== undefined && at > told.at
}

function toldOf({ id, blocks, at }: ShownPrompt): Told {
  const fact: MessageFact = { kind: 'message', id, role: 'person', blocks }
  return { key: id, fact, at, turn: 0, isCut: false, isMidTurn: false }
}

function promptToReading(
  prompt: ShownPrompt,
  { cache }: UnwrittenOptions,
  readings: readonly Reading[],
): Reading {
  return keep(cache, `sending ${prompt.id}`, () => toEntry(toldOf(prompt), UNWRITTEN.sending, readings))
}

function toReading(
  told: Told,
  { settledTurn, cache }: UnwrittenOptions,
  readings: readonly Reading[],
): Reading {
  const type = told.turn <= settledTurn ? UNWRITTEN.lost : UNWRITTEN.told
  return keep(cache, `${type} ${told.key}`, () => toEntry(told, type, readings))
}

function keep(cache: Map<string, Reading>, key: string, make: () => Entry): Reading {
  const before = cache.get(key)
  if (before !== undefined) return before
  const reading: Reading = { kind: 'entry', entry: make() }
  cache.set(key, reading)
  return reading
}

const NO_BYTES = new Uint8Array(0)

function toEntry({ key, fact, at, isMidTurn }: Told, type: string, readings: readonly Reading[]): Entry {
  const last = readings.at(-1)
  const end = last === undefined ? 0 : last.kind === 'entry' ? last.entry.place : last.damage
  const offset = end === 0 ? 0 : end.offset + end.length
  const envelope = { id: fact.id ?? key, place: { offset, length: 0 }, raw: NO_BYTES, type, at }
  const { blocks, messageId, model, usage } = fact
  switch (fact.role) {
    case 'person':
      return { kind: 'prompt', ...envelope, blocks, origin: 'person', midTurn: isMidTurn }
    case 'agent':
      return {
        kind: 'reply',
        ...envelope,
        messageId,
        model,
        blocks,
        usage,
        synthetic: false,
        apiError: false,
      }
    case 'tool':
      return { kind: 'result', ...envelope, blocks }
  }
}
