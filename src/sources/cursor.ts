import { createHash } from 'node:crypto'
import { ThroughlineError } from '#base'
import type { TranscriptFile } from './transcript-file.ts'

/**
 * A cursor names a place between two lines of a file, and the bytes before it: `<offset>.<hash of up to 4 KB>`. It
 * needs no memory but the file, so it means the same after a restart, and it is void when those bytes changed.
 */
const GUARD = 4096

/** The cursor of a place in the file. */
export function cursorAt(file: TranscriptFile, offset: number): string {
  if (offset === 0) return '0'
  const length = Math.min(GUARD, offset)
  const bytes = Buffer.allocUnsafe(length)
  const count = file.readNow(bytes, length, offset - length)
  return `${offset}.${guardOf(bytes.subarray(0, count))}`
}

/** The cursor of a place whose preceding bytes are at hand: everything before it, or at least 4 KB. */
export function cursorAfter(bytes: Uint8Array, offset: number): string {
  return offset === 0 ? '0' : `${offset}.${guardOf(bytes.subarray(Math.max(0, bytes.length - GUARD)))}`
}

/** The offset of a cursor in a file that still has the bytes it was given for. */
export function offsetOf(file: TranscriptFile, cursor: string): number {
  const offset = findOffset(file, cursor)
  if (offset !== undefined) return offset
  throw new ThroughlineError('cursor-void', `${file.path} was rewritten since the cursor was given`, {
    hint: 'Start again without a cursor.',
  })
}

/** Fetches what a cursor is compared with, of a file that is not all here. */
export async function prepareCursor(file: TranscriptFile, cursor: string): Promise<void> {
  if (file.prepare === undefined) return
  const offset = Number(/^\d{1,16}/.exec(cursor)?.[0] ?? 0)
  const length = Math.min(GUARD, offset)
  // What stands behind it says whether the line before it went on.
  if (offset <= file.size) await file.prepare(length + 1, offset - length)
}

/** …or `undefined`, when it has not. Throws `request-invalid` for what never was a cursor. */
export function findOffset(file: TranscriptFile, cursor: string): number | undefined {
  const match = /^(0|[1-9]\d{0,15})(?:\.([\w-]{11}))?$/.exec(cursor)
  const offset = Number(match?.[1])
  if (match === null || !Number.isSafeInteger(offset) || (offset > 0 && match[2] === undefined)) {
    throw new ThroughlineError('request-invalid', `${JSON.stringify(cursor.slice(0, 80))} is not a cursor`, {
      hint: 'Give the `start` or `end` of a page, or the `cursor` of an event, as it is.',
    })
  }
  if (offset > file.size) return undefined
  return cursorAt(file, offset) === cursor ? offset : undefined
}

function guardOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 11)
}
