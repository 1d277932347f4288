import { appendDamage, createChain, toMessages, type Damage, type Entry, type Passage } from '#model'
import {
  placeOf,
  readForward,
  readPageBefore,
  type LineFormat,
  type Reading,
  type TranscriptFile,
} from '#sources'

/** A turn that grew beyond this is told in pieces, at a moment when no call waits for its result. */
const SOFT_LIMIT = 8 * 1024 * 1024
/** …and beyond this at any moment, so that memory has a ceiling. */
const HARD_LIMIT = 64 * 1024 * 1024

/** Everything in file order, about a turn at a time. */
export async function* readPassages(
  file: TranscriptFile,
  format: LineFormat,
): AsyncGenerator<readonly Passage[]> {
  const spine = await readSpine(file, format)
  let held: Reading[] = []
  let bytes = 0
  const waiting = new Set<string>()
  for await (const { readings } of readForward(file, format)) {
    for (const reading of readings) {
      const full = bytes > HARD_LIMIT || (bytes > SOFT_LIMIT && waiting.size === 0)
      if (held.length > 0 && (full || beginsTurn(reading))) {
        yield toPassages(held, spine)
        held = []
        bytes = 0
      }
      bytes += placeOf(reading).length
      if (reading.kind === 'entry') noteCalls(reading.entry, waiting)
      held.push(reading)
    }
  }
  if (held.length > 0) yield toPassages(held, spine)
}

/** The last messages, found from the end of the file. */
export async function readLastPassages(
  file: TranscriptFile,
  format: LineFormat,
  count: number,
): Promise<readonly Passage[]> {
  const { readings } = await readPageBefore(file, format, {
    limit: count,
    counts: ({ kind }) =>
      kind !== 'context' && kind !== 'record' && kind !== 'injection' && kind !== 'unknown',
  })
  return toPassages(readings, undefined)
}

/** Messages with the damage that stands between them. */
function toPassages(
  readings: readonly Reading[],
  spine: ReadonlySet<string> | undefined,
): readonly Passage[] {
  const entries = readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
  const damage: Damage[] = []
  for (const reading of readings) if (reading.kind === 'damage') appendDamage(damage, reading.damage)
  const passages: Passage[] = []
  let told = 0
  for (const message of toMessages(entries, spine === undefined ? {} : { path: spine })) {
    const offset = message.entries[0]?.place.offset ?? 0
    for (let next = damage[told]; next && next.offset < offset; next = damage[++told]) {
      passages.push({ kind: 'damage', damage: next })
    }
    passages.push(message)
  }
  return [...passages, ...damage.slice(told).map((rest): Passage => ({ kind: 'damage', damage: rest }))]
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

async function readSpine(file: TranscriptFile, format: LineFormat): Promise<ReadonlySet<string>> {
  const chain = createChain()
  for await (const { readings } of readForward(file, format)) {
    for (const reading of readings) if (reading.kind === 'entry') chain.add(reading.entry)
  }
  return chain.finish().spine
}
