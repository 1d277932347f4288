import type { Reading } from '#model'
import { readForward } from './forward.ts'
import type { LineFormat } from './source.ts'
import type { TranscriptFile } from './transcript-file.ts'
import { findZerosStart, isZero } from './zeros/zero-runs.ts'

const NEWLINE = 0x0a
const PIECE = 64 * 1024

/** Where the last line before `limit` ends that has its newline. */
export async function endOfLines(file: TranscriptFile, limit: number = file.size): Promise<number> {
  // Nearly always the very last byte ends a line.
  let piece = 1
  for (let end = limit; end > 0; piece = PIECE) {
    const start = Math.max(0, end - piece)
    const bytes = Buffer.allocUnsafe(end - start)
    // Nearly always one byte is read, and that at once.
    const count =
      end === limit ? file.readNow(bytes, bytes.length, start) : await file.read(bytes, bytes.length, start)
    const found = bytes.subarray(0, count).lastIndexOf(NEWLINE)
    if (found >= 0) return start + found + 1
    end = isZero(bytes, 0, count) ? await findZerosStart(file, start, 0) : start
  }
  return 0
}

/** What stands behind the last newline of a file: a line that is being written, a torn one, or a whole one. */
export interface OpenLine {
  readonly readings: readonly Reading[]
  /** Whether a record can be read in it. One that lacks only its newline does not become another one. */
  readonly isReadable: boolean
}

/** Reads what stands behind `from`, where the last line with a newline ends. */
export async function readOpenLine(
  file: TranscriptFile,
  format: LineFormat,
  from: number,
): Promise<OpenLine> {
  const readings: Reading[] = []
  for await (const batch of readForward(file, format, { from })) readings.push(...batch.readings)
  return { readings, isReadable: readings.some(({ kind }) => kind === 'entry') }
}

/**
 * Where the next line begins, for somebody who has read up to `offset`, which may be the end of a line without its
 * newline. Nothing when that line went on: then it is another one.
 */
export function findNextLine(file: TranscriptFile, offset: number): number | undefined {
  if (offset === 0 || offset >= file.size || byteAt(file, offset - 1) === NEWLINE) return offset
  return byteAt(file, offset) === NEWLINE ? offset + 1 : undefined
}

/** How far a file can be read: to the end of its last line, with or without its newline. A torn one is left out. */
export async function endOfRecords(file: TranscriptFile, format: LineFormat): Promise<number> {
  const end = await endOfLines(file)
  if (end === file.size) return end
  const { isReadable } = await readOpenLine(file, format, end)
  return isReadable ? file.size : end
}

function byteAt(file: TranscriptFile, offset: number): number | undefined {
  const byte = Buffer.alloc(1)
  return file.readNow(byte, 1, offset) === 1 ? byte[0] : undefined
}
