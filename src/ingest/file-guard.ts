import { createHash } from 'node:crypto'
import type { TranscriptFile } from '#sources'

const GUARD = 4096

/**
 * Says what stands at the beginning of a file and right before an offset. While that is the same, everything before
 * the offset is taken to be: transcripts grow at their end, and one that was rewritten differs in its first lines or
 * in the last ones that were read.
 */
export function guardAt(file: TranscriptFile, offset: number): string {
  const length = Math.min(GUARD, offset)
  const bytes = Buffer.allocUnsafe(length)
  const hash = createHash('sha256')
  hash.update(bytes.subarray(0, file.readNow(bytes, length, 0)))
  if (offset > GUARD) hash.update(bytes.subarray(0, file.readNow(bytes, length, offset - length)))
  return hash.digest('base64url').slice(0, 22)
}

export function isGuarded(file: TranscriptFile, offset: number, guard: string): boolean {
  return guardAt(file, offset) === guard
}
