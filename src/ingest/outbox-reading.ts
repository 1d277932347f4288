import { findZerosEnd, isZero, openPlainFile, type TranscriptFile } from '#sources'
import { guardAt } from './file-guard.ts'
import type { Shipped } from './outbox-state.ts'

/** What is read and sent at once. */
const PIECE = 1024 * 1024
/** The longest line that is held in memory here. */
const LONGEST = 64 * 1024 * 1024
const NEWLINE = 10
const TAIL = 4096

/** The first of these files that is there. */
export function openOneOf(paths: readonly (string | undefined)[]): TranscriptFile | undefined {
  for (const path of paths) {
    if (path === undefined) continue
    try {
      return openPlainFile(path)
    } catch {
      // The next one, if there is one.
    }
  }
  return undefined
}

/**
 * Where it goes on. What was rewritten is another file from then on: what was shipped of it stays as it was. Counted for
 * every name, for the disk gives the number of a file that is gone to another one.
 */
export function whereToGoOn(file: TranscriptFile, known: Shipped | undefined): Shipped {
  const anew = { identity: file.identity, generation: 0, offset: 0, guard: guardAt(file, 0) }
  if (known === undefined) return anew
  const isSame = known.identity === file.identity && known.offset <= file.size
  if (isSame && guardAt(file, known.offset) === known.guard) return known
  return { ...anew, generation: known.generation + 1 }
}

/** Whole lines from an offset on: as many as fit a piece, or one that is longer. Empty when even that is too long. */
export async function readLines(file: TranscriptFile, offset: number, end: number): Promise<Buffer> {
  for (let size = PIECE; ; size *= 4) {
    const length = Math.min(size, end - offset)
    const bytes = Buffer.allocUnsafe(length)
    const found = bytes.subarray(0, await file.read(bytes, length, offset))
    const whole = found.subarray(0, found.lastIndexOf(NEWLINE) + 1)
    if (whole.length > 0) return whole
    if (length === end - offset || size > LONGEST) return whole
  }
}

/** Everything from an offset on, as one text. Empty when it is too long for that. */
export async function readText(file: TranscriptFile, offset: number, end: number): Promise<Buffer> {
  if (end - offset > LONGEST) return Buffer.alloc(0)
  const bytes = Buffer.allocUnsafe(end - offset)
  return bytes.subarray(0, await file.read(bytes, bytes.length, offset))
}

/** The pieces of some bytes that end with a newline, and what is left behind the last. */
export function toLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let from = 0; from < bytes.length;) {
    const to = bytes.indexOf(NEWLINE, from) + 1 || bytes.length
    lines.push(bytes.subarray(from, to))
    from = to
  }
  return lines
}

/** Whether what was read is still what the file has at its end. */
export function isStillThere(file: TranscriptFile, offset: number, bytes: Buffer): boolean {
  const tail = bytes.subarray(-TAIL)
  const now = Buffer.allocUnsafe(tail.length)
  const count = file.readNow(now, tail.length, offset + bytes.length - tail.length)
  return now.subarray(0, count).equals(tail)
}

export async function findLineEnd(file: TranscriptFile, offset: number, end: number): Promise<number> {
  const bytes = Buffer.allocUnsafe(PIECE)
  for (let at = offset; at < end;) {
    const count = await file.read(bytes, Math.min(PIECE, end - at), at)
    const found = bytes.subarray(0, count).indexOf(NEWLINE)
    if (found >= 0) return at + found + 1
    if (count === 0) break
    at = isZero(bytes, 0, count) ? await findZerosEnd(file, at + count, end) : at + count
  }
  return end
}
