import type { TranscriptFile } from './transcript-file.ts'

const NEWLINE = 0x0a
const PIECE = 64 * 1024

/** Where the last whole line before `limit` ends: what stands behind it is still being written, or torn. */
export function endOfLines(file: TranscriptFile, limit: number = file.size): number {
  // Nearly always the very last byte ends a line.
  let piece = 1
  for (let end = limit; end > 0; piece = PIECE) {
    const start = Math.max(0, end - piece)
    const bytes = Buffer.allocUnsafe(end - start)
    const found = bytes.subarray(0, file.readNow(bytes, end - start, start)).lastIndexOf(NEWLINE)
    if (found >= 0) return start + found + 1
    end = start
  }
  return 0
}
