import type { Reading } from '#model'
import type { LineFormat } from './source.ts'
import { ObjectAutomaton } from './object-automaton.ts'
import type { TranscriptFile } from './transcript-file.ts'
import { findZerosEnd, isZero, ZERO_RUN } from './zeros/zero-runs.ts'

/** A top-level value up to this size is kept of a record that is not. */
const SHORT_VALUE = 4096

/**
 * Reads a line that is too long to hold: checks it in pieces, keeps its short top-level values, and says where the
 * next line begins.
 */
export async function readOversize(
  file: TranscriptFile,
  format: LineFormat,
  range: { readonly offset: number; readonly to: number; readonly chunk: number },
): Promise<{ readonly readings: readonly Reading[]; readonly next: number }> {
  const { offset, to, chunk } = range
  const automaton = new ObjectAutomaton(format.keys)
  automaton.begin()
  const buffer = Buffer.allocUnsafe(chunk)
  let verdict: 'incomplete' | 'whole' | 'garbage' | 'too-deep' = 'incomplete'
  let position = offset
  let end = to
  let isCut = false
  while (position < to) {
    const count = await file.read(buffer, Math.min(chunk, to - position), position)
    if (count === 0) {
      end = position
      break
    }
    if (isZero(buffer, 0, count) && (await findZerosEnd(file, position, to)) - position >= ZERO_RUN) {
      // Not held by a newline: the run is read next, by itself.
      end = position
      isCut = true
      break
    }
    const newline = buffer.indexOf(0x0a)
    const stop = newline >= 0 && newline < count ? newline : count
    if (verdict === 'incomplete') verdict = automaton.feed(buffer, 0, stop, position - offset).kind
    position += stop
    if (stop < count) {
      end = position
      break
    }
  }
  const place = { offset, length: end - offset }
  const next = isCut ? end : Math.min(end + 1, to)
  if (verdict !== 'whole') {
    const reason = verdict === 'incomplete' ? 'torn' : verdict
    return { readings: [{ kind: 'damage', damage: { ...place, reason } }], next }
  }
  const values = await readShortValues(file, format, automaton, offset)
  return { readings: [{ kind: 'entry', entry: format.readEnvelope(values, place) }], next }
}

async function readShortValues(
  file: TranscriptFile,
  format: LineFormat,
  automaton: ObjectAutomaton,
  offset: number,
): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>()
  const buffer = Buffer.allocUnsafe(SHORT_VALUE)
  for (const [index, key] of format.keys.entries()) {
    const start = automaton.starts[index] ?? -1
    const length = (automaton.ends[index] ?? -1) - start
    if (start < 0 || length <= 0 || length > SHORT_VALUE) continue
    const count = await file.read(buffer, length, offset + start)
    values.set(key, buffer.toString('utf8', 0, count))
  }
  return values
}
