import type { Entry } from '#model'
import { findLineStart, readBackward } from './backward.ts'
import { readForward } from './forward.ts'
import type { LineFormat } from './source.ts'
import type { TranscriptFile } from './transcript-file.ts'
import { findZerosEnd, isZero } from './zeros/zero-runs.ts'

/** Asked of the disk at a time when all of a file may have to be looked at: few trips, and short ones. */
const LARGE_PIECE = 1024 * 1024
const PROBE = 32 * 1024
/** Below this a stretch is read through: dividing it further costs more than reading it. */
const SHORT_STRETCH = 128 * 1024
const NEWLINE = 0x0a

/**
 * Where the line begins that has the entry with this id, newest first: a line that was written twice counts where it
 * was written last. `undefined` when there is none. Lines that do not mention the id are not read.
 */
export async function findEntryLine(
  file: TranscriptFile,
  format: LineFormat,
  id: string,
): Promise<number | undefined> {
  const place = /^@(0|[1-9]\d{0,15})$/.exec(id)?.[1]
  if (place !== undefined) return Number(place) < file.size ? findLineAt(file, Number(place)) : undefined
  // As a text of its own: a mention inside a longer one has other bytes around it.
  const mentioning = [Buffer.from(JSON.stringify(id))]
  const options = { mentioning, largestPiece: LARGE_PIECE }
  for await (const { readings, offset } of readBackward(file, format, options)) {
    for (const reading of readings) {
      if (reading.kind === 'entry' && reading.entry.id === id) return offset
    }
  }
  return undefined
}

/** Where the line begins that this byte is in. At or behind the end of the file: its size. */
export async function findLineAt(file: TranscriptFile, offset: number): Promise<number> {
  if (offset >= file.size) return file.size
  return await findLineStart(file, Math.max(0, offset), PROBE)
}

/**
 * Where the first line begins that is not older than this time, in milliseconds; the file's size when all are older.
 * Found by dividing the file, so it reads a few pieces of it, whatever its size. Lines without a time tell nothing;
 * where times are out of order, it is a place where they change from older to newer.
 */
export async function findTimeLine(file: TranscriptFile, format: LineFormat, time: number): Promise<number> {
  /** Lines that begin before `low` are older. */
  let low = 0
  let high = file.size
  while (high - low > SHORT_STRETCH) {
    const middle = low + Math.floor((high - low) / 2)
    const from = await findNextLine(file, middle)
    const found = from >= high ? undefined : await findTimed(file, format, { from, to: high })
    // Nothing in the upper half says when it was: the lower half has to.
    if (found === undefined || found.time >= time) high = middle
    else low = found.next
  }
  for await (const { readings } of readForward(file, format, { from: low, chunk: PROBE })) {
    for (const reading of readings) {
      if (reading.kind === 'entry' && timeOf(reading.entry) >= time) return reading.entry.place.offset
    }
  }
  return file.size
}

/** The first line in a stretch that has a time, and where the one behind it begins. */
async function findTimed(
  file: TranscriptFile,
  format: LineFormat,
  stretch: { readonly from: number; readonly to: number },
): Promise<{ readonly time: number; readonly next: number } | undefined> {
  for await (const batch of readForward(file, format, { from: stretch.from, chunk: PROBE })) {
    for (const reading of batch.readings) {
      if (reading.kind !== 'entry') continue
      const { offset, length } = reading.entry.place
      if (offset >= stretch.to) return undefined
      const time = timeOf(reading.entry)
      if (!Number.isNaN(time)) return { time, next: Math.min(offset + length + 1, stretch.to) }
    }
    if (batch.next >= stretch.to) return undefined
  }
  return undefined
}

/** Where the first line begins that does not begin before this byte. */
async function findNextLine(file: TranscriptFile, offset: number): Promise<number> {
  if (offset === 0) return 0
  const buffer = Buffer.allocUnsafe(PROBE)
  // From the byte before it: that may end a line.
  for (let at = offset - 1; at < file.size;) {
    const count = await file.read(buffer, Math.min(PROBE, file.size - at), at)
    if (count === 0) break
    const newline = buffer.subarray(0, count).indexOf(NEWLINE)
    if (newline >= 0) return at + newline + 1
    at = isZero(buffer, 0, count) ? await findZerosEnd(file, at + count, file.size) : at + count
  }
  return file.size
}

function timeOf({ at }: Entry): number {
  return at === undefined ? Number.NaN : Date.parse(at)
}
