import type { Reading } from '#model'
import { setImmediate } from 'node:timers/promises'
import type { LineFormat } from './source.ts'
import { readOversize } from './oversize.ts'
import { lineReaderOf } from './salvage.ts'
import { withSeams } from './seams.ts'
import type { TranscriptFile } from './transcript-file.ts'
import { findZerosEnd, isZero, startOfZeros, ZERO_RUN } from './zeros/zero-runs.ts'

export interface ReadOptions {
  /** First byte to read: the beginning of a line. */
  readonly from?: number
  /** Where to stop. Default: the end of the file when it was opened. */
  readonly to?: number
  /** Bytes asked of the disk at a time. */
  readonly chunk?: number
  /** The largest line that is held in memory. */
  readonly maxLine?: number
}

/** What came out of one piece of the file, and the offset up to which everything has been told. */
export interface Batch {
  readonly readings: readonly Reading[]
  /** The beginning of the first line that is not in this or an earlier batch. */
  readonly next: number
  /** Where the lines of this batch begin, blank ones included. */
  readonly lineStarts: readonly number[]
}

export const CHUNK: number = 128 * 1024
export const MAX_LINE: number = 32 * 1024 * 1024

/**
 * Reads a transcript from front to back, in batches. Memory stays within `maxLine` and a few chunks, whatever the
 * file's size: a longer line becomes an `oversize` entry.
 */
export async function* readForward(
  file: TranscriptFile,
  format: LineFormat,
  options: ReadOptions = {},
): AsyncGenerator<Batch> {
  const { from = 0, to = file.size, chunk = CHUNK, maxLine = MAX_LINE } = options
  const { path } = file
  const reader = lineReaderOf(format)
  let carry: Buffer = EMPTY
  let position = from

  while (position < to) {
    // As much again as is held of a line, so that a long line costs twice its length at most; never beyond the limit.
    const more = Math.min(carry.length, maxLine - carry.length)
    const size = Math.min(Math.max(chunk, more), to - position)
    const buffer = Buffer.allocUnsafe(carry.length + size)
    carry.copy(buffer)
    // Other work gets its turn before each piece. Reading itself does not wait: a piece from the page cache takes a
    // tenth of the time that its lines take, and a trip through the thread pool as long as the piece.
    await setImmediate()
    await file.prepare?.(size, position)
    const count = file.readNow(buffer.subarray(carry.length), size, position)
    const offset = position - carry.length
    const end = carry.length + count
    position += count
    if (count < size) {
      // The file became shorter while we read: what there is, is all there is.
      position = to
    }

    const readings: Reading[] = []
    const lineStarts: number[] = []
    let start = 0
    if (isZero(buffer, carry.length, end)) {
      const zeros = startOfZeros(buffer, 0, carry.length)
      const runEnd = await findRunEnd(file, { from: offset + zeros, at: position, to })
      if (runEnd !== undefined) {
        if (zeros > 0) {
          reader.readLine(buffer, { from: 0, to: zeros, offset, path }, readings)
          lineStarts.push(offset)
        }
        readings.push(toZeroRun(offset + zeros, runEnd))
        lineStarts.push(offset + zeros)
        carry = EMPTY
        position = runEnd
        yield { readings: withSeams(readings, file.seams), next: position, lineStarts }
        continue
      }
    }
    for (;;) {
      const newline = indexOfNewline(buffer, start, end)
      if (newline < 0) break
      if (newline > start)
        reader.readLine(buffer, { from: start, to: newline, offset: offset + start, path }, readings)
      lineStarts.push(offset + start)
      start = newline + 1
    }
    if (position >= to) {
      if (start < end) {
        reader.readLine(buffer, { from: start, to: end, offset: offset + start, path }, readings)
        lineStarts.push(offset + start)
      }
      yield { readings: withSeams(readings, file.seams), next: offset + end, lineStarts }
      return
    }
    carry = buffer.subarray(start, end)
    if (carry.length > maxLine) {
      const long = await readOversize(file, format, { offset: offset + start, to, chunk })
      readings.push(...long.readings)
      lineStarts.push(offset + start)
      position = long.next
      carry = EMPTY
      yield { readings: withSeams(readings, file.seams), next: position, lineStarts }
    } else yield { readings: withSeams(readings, file.seams), next: offset + start, lineStarts }
  }
}

const EMPTY = Buffer.alloc(0)

/** Where a long run of zero bytes ends that begins at `from` and goes on at `at`. Nothing when it is a short one. */
async function findRunEnd(
  file: TranscriptFile,
  { from, at, to }: { readonly from: number; readonly at: number; readonly to: number },
): Promise<number | undefined> {
  if (to - from < ZERO_RUN) return undefined
  const end = await findZerosEnd(file, at, to)
  return end - from < ZERO_RUN ? undefined : end
}

/** What a long run of zero bytes is read as. */
export function toZeroRun(from: number, to: number): Reading {
  return { kind: 'damage', damage: { offset: from, length: to - from, reason: 'nul-run' } }
}

function indexOfNewline(buffer: Buffer, from: number, end: number): number {
  const found = buffer.indexOf(0x0a, from)
  return found < 0 || found >= end ? -1 : found
}
