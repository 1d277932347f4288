import type { TranscriptFile } from '../transcript-file.ts'
import { isZero } from './zero-runs.ts'

const PROBE = 4096
/** Fewer zero bytes at the end of a file are read with what stands before them. */
const WINDOW = 32 * 1024

/**
 * About where the zero bytes begin that a file ends with: never before the last line, as long as nothing but zeros
 * stands behind it. Found by a few probes whatever its size. For a list, which looks only at both ends.
 */
export function findWrittenEnd(file: TranscriptFile): number {
  const window = Buffer.allocUnsafe(Math.min(WINDOW, file.size))
  if (file.size < WINDOW || !isZeroAt(file, window, file.size - WINDOW)) return file.size
  const probe = window.subarray(0, PROBE)
  let zeros = file.size - WINDOW
  let written = 0
  for (let step = WINDOW; step < file.size; step *= 2) {
    const at = Math.max(0, file.size - step)
    if (!isZeroAt(file, probe, at)) {
      written = at
      break
    }
    zeros = Math.min(zeros, at)
  }
  while (zeros - written > PROBE) {
    const middle = written + Math.floor((zeros - written) / 2)
    if (isZeroAt(file, probe, middle)) zeros = middle
    else written = middle
  }
  return Math.min(file.size, zeros + PROBE)
}

function isZeroAt(file: TranscriptFile, bytes: Buffer, at: number): boolean {
  return isZero(bytes, 0, file.readNow(bytes, bytes.length, at))
}
