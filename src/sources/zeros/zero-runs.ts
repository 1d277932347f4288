import type { TranscriptFile } from '../transcript-file.ts'
import { findHole, rememberZeros } from './holes.ts'

/**
 * A run of zero bytes of this length or more separates lines like a newline, so that no reader has to hold it. File
 * systems leave them after a crash, and a file that was truncated under its writer begins with one. A transcript can
 * claim terabytes that way while it takes a few kilobytes of the disk.
 */
export const ZERO_RUN: number = 1024 * 1024

const ZEROS = Buffer.alloc(64 * 1024)

/** Whether these bytes are zeros, all of them. */
export function isZero(bytes: Buffer, from: number, to: number): boolean {
  if (to <= from || bytes[from] !== 0 || bytes[to - 1] !== 0) return false
  for (let at = from; at < to; at += ZEROS.length) {
    const end = Math.min(at + ZEROS.length, to)
    if (bytes.compare(ZEROS, 0, end - at, at, end) !== 0) return false
  }
  return true
}

/** Where the zero bytes end that begin at `from`, or `to`. */
export function endOfZeros(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at] === 0) at++
  return at
}

/** Where the zero bytes begin that end at `to`, or `from`. */
export function startOfZeros(bytes: Buffer, from: number, to: number): number {
  let at = to
  while (at > from && bytes[at - 1] === 0) at--
  return at
}

/**
 * Where the run of zero bytes ends that `from` is in; `limit` when it goes on there. Reads in pieces, and nothing of
 * what the file system says takes no room.
 */
export async function findZerosEnd(file: TranscriptFile, from: number, limit: number): Promise<number> {
  const piece = Buffer.allocUnsafe(Math.min(ZERO_RUN, Math.max(0, limit - from)))
  let at = from
  while (at < limit) {
    const hole = await findHole(file, at)
    if (hole !== undefined && hole.to > at) {
      at = Math.min(hole.to, limit)
      continue
    }
    const count = await file.read(piece, Math.min(piece.length, limit - at), at)
    const isAll = isZero(piece, 0, count)
    at += isAll ? count : endOfZeros(piece, 0, count)
    if (!isAll) break
  }
  rememberZeros(file, from, at)
  return at
}

/** Where the run of zero bytes begins that ends at `to`; `limit` when it begins before. */
export async function findZerosStart(file: TranscriptFile, to: number, limit: number): Promise<number> {
  const piece = Buffer.allocUnsafe(Math.min(ZERO_RUN, Math.max(0, to - limit)))
  let at = to
  while (at > limit) {
    const hole = await findHole(file, at)
    if (hole !== undefined && hole.from < at) {
      at = Math.max(hole.from, limit)
      continue
    }
    const size = Math.min(piece.length, at - limit)
    const count = await file.read(piece, size, at - size)
    if (count < size) break
    const isAll = isZero(piece, 0, count)
    at = isAll ? at - size : at - size + startOfZeros(piece, 0, count)
    if (!isAll) break
  }
  rememberZeros(file, at, to)
  return at
}

/** The run of zero bytes that goes on before `at` and ends at `to`, when it is a long one. */
export async function findRunBefore(
  file: TranscriptFile,
  at: number,
  to: number,
): Promise<{ readonly from: number; readonly to: number } | undefined> {
  if (to < ZERO_RUN) return undefined
  const from = await findZerosStart(file, at, 0)
  return to - from < ZERO_RUN ? undefined : { from, to }
}
