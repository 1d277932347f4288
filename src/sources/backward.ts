import type { Reading } from '#model'
import { CHUNK, MAX_LINE, toZeroRun } from './forward.ts'
import { readOversize } from './oversize.ts'
import { indexWithin, lineReaderOf } from './salvage.ts'
import { withSeams } from './seams.ts'
import type { LineFormat } from './source.ts'
import type { TranscriptFile } from './transcript-file.ts'
import {
  endOfZeros,
  findRunBefore,
  findZerosEnd,
  findZerosStart,
  isZero,
  ZERO_RUN,
} from './zeros/zero-runs.ts'

export interface BackwardOptions {
  /** Lines that begin before this offset. Default: the end of the file when it was opened. */
  readonly before?: number
  /** Bytes asked of the disk first; each further piece is twice as long, up to the largest. */
  readonly firstPiece?: number
  readonly largestPiece?: number
  readonly maxLine?: number
  /** Whole lines that have the bytes of none of these are passed over unread. */
  readonly mentioning?: readonly Buffer[]
}

/** The readings of one line, oldest first, and where the line begins. */
export interface LineBatch {
  readonly readings: readonly Reading[]
  readonly offset: number
}

const FIRST_PIECE = 32 * 1024

/**
 * Reads a transcript from back to front, a line at a time, last line first. Reads about as many bytes as the lines
 * have that are asked for: the rest of the file is never touched.
 */
export async function* readBackward(
  file: TranscriptFile,
  format: LineFormat,
  options: BackwardOptions = {},
): AsyncGenerator<LineBatch> {
  const { before = file.size, firstPiece = FIRST_PIECE, largestPiece = CHUNK, maxLine = MAX_LINE } = options
  const { mentioning } = options
  const reader = lineReaderOf(format)
  let held: Buffer = Buffer.alloc(0)
  /** The offset of the first byte held. */
  let position = Math.min(before, file.size)
  let piece = firstPiece

  for (;;) {
    // Every newline but the very last byte ends one line and so begins another.
    let end = held.length
    for (;;) {
      const lineEnd = end > 0 && held[end - 1] === NEWLINE ? end - 1 : end
      const newline = lineEnd === 0 ? -1 : held.lastIndexOf(NEWLINE, lineEnd - 1)
      if (newline < 0 && position > 0) break
      if (end === 0) return
      const start = newline + 1
      yield { readings: readOne(start, lineEnd), offset: position + start }
      end = start
      if (end === 0) return
    }
    held = held.subarray(0, end)

    if (held.length > maxLine) {
      const start = await findLineStart(file, position)
      const long = await readOversize(file, format, {
        offset: start,
        to: position + held.length,
        chunk: CHUNK,
      })
      yield { readings: withSeams([...long.readings], file.seams), offset: start }
      held = Buffer.alloc(0)
      position = start
      piece = firstPiece
      continue
    }
    // A line longer than what is held: fetch as much again, so that a long line costs twice its length at most.
    const more = Math.min(held.length, maxLine - held.length)
    const size = Math.min(Math.max(piece, more), position)
    const buffer = Buffer.allocUnsafe(size + held.length)
    const count = await file.read(buffer, size, position - size)
    if (count < size) return // the file became shorter: there is nothing here any more
    if (isZero(buffer, 0, size)) {
      const run = await findRunBefore(file, position - size, position + endOfZeros(held, 0, held.length))
      if (run !== undefined) {
        const from = run.to - position
        const lineEnd = held.at(-1) === NEWLINE ? held.length - 1 : held.length
        if (from < held.length) yield { readings: readOne(from, lineEnd), offset: run.to }
        yield { readings: withSeams([toZeroRun(run.from, run.to)], file.seams), offset: run.from }
        held = Buffer.alloc(0)
        position = run.from
        piece = firstPiece
        continue
      }
    }
    held.copy(buffer, size)
    held = buffer
    position -= size
    piece = Math.min(piece * 2, largestPiece)
  }

  function readOne(from: number, to: number): Reading[] {
    const readings: Reading[] = []
    // What does not look like a record is read, too: it may be what is left of one.
    const isWhole = held[from] === OPENING && held[to - 1] === CLOSING
    const wanted = !isWhole || (mentioning?.some((mark) => indexWithin(held, mark, from, to) < to) ?? true)
    if (to > from && wanted)
      reader.readLine(held, { from, to, offset: position + from, path: file.path }, readings)
    return withSeams(readings, file.seams)
  }
}

const NEWLINE = 0x0a
const OPENING = 0x7b
const CLOSING = 0x7d

/** Where the line begins that goes on at `position`, found without holding it. A long run of zero bytes is one, too. */
export async function findLineStart(
  file: TranscriptFile,
  position: number,
  piece: number = CHUNK,
): Promise<number> {
  const buffer = Buffer.allocUnsafe(piece)
  let end = position
  while (end > 0) {
    const size = Math.min(piece, end)
    await file.read(buffer, size, end - size)
    const newline = buffer.lastIndexOf(NEWLINE, size - 1)
    if (newline >= 0) return end - size + newline + 1
    end -= size
    if (!isZero(buffer, 0, size)) continue
    const from = await findZerosStart(file, end, 0)
    const to = await findZerosEnd(file, end + size, file.size)
    if (to - from >= ZERO_RUN) return to <= position ? to : from
    end = from
  }
  return 0
}
