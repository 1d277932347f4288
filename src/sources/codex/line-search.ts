import { setImmediate } from 'node:timers/promises'
import type { Reading } from '#model'
import { CHUNK, MAX_LINE, readForward } from '../forward.ts'
import { lineReaderOf } from '../salvage.ts'
import type { TranscriptFile } from '../transcript-file.ts'
import { codexFormat } from './read-line.ts'

const NEWLINE = 0x0a

/**
 * Reads those lines of a file in which one of the words stands, in order, and passes over the others unread. A file
 * with lines too long to hold is read in full.
 */
export async function readLinesWith(
  file: TranscriptFile,
  words: readonly Buffer[],
  take: (readings: readonly Reading[]) => void,
): Promise<void> {
  const reader = lineReaderOf(codexFormat)
  let carry: Buffer = Buffer.alloc(0)
  for (let position = 0; position < file.size;) {
    const size = Math.min(Math.max(CHUNK, carry.length), file.size - position)
    const buffer = Buffer.allocUnsafe(carry.length + size)
    carry.copy(buffer)
    await setImmediate()
    await file.prepare?.(size, position)
    const count = file.readNow(buffer.subarray(carry.length), size, position)
    if (count === 0) break
    const offset = position - carry.length
    position += count
    const end = carry.length + count
    const whole = position >= file.size ? end : buffer.lastIndexOf(NEWLINE, end - 1) + 1
    for (const [from, to] of findLines(buffer.subarray(0, whole), words)) {
      const readings: Reading[] = []
      reader.readLine(buffer, { from, to, offset: offset + from }, readings)
      take(readings)
    }
    carry = buffer.subarray(whole, end)
    // From there on in full: what was taken stays taken.
    if (carry.length > MAX_LINE / 2) return await readRest(file, position - carry.length, take)
  }
}

async function readRest(
  file: TranscriptFile,
  from: number,
  take: (readings: readonly Reading[]) => void,
): Promise<void> {
  for await (const { readings } of readForward(file, codexFormat, { from })) take(readings)
}

function findLines(
  bytes: Buffer,
  words: readonly Buffer[],
): readonly (readonly [from: number, to: number])[] {
  const lines = new Map<number, number>()
  for (const word of words) {
    let end = 0
    for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, end)) {
      const newline = bytes.indexOf(NEWLINE, at)
      end = newline < 0 ? bytes.length : newline
      lines.set(bytes.lastIndexOf(NEWLINE, at) + 1, end)
    }
  }
  return [...lines].toSorted(([a], [b]) => a - b)
}
