import { type Entry, placeOf, type Reading } from '#model'
import { readBackward } from './backward.ts'
import { readForward } from './forward.ts'
import { type LineFormat } from './source.ts'
import type { TranscriptFile } from './transcript-file.ts'

/** A stretch of a transcript, oldest first. Pages are made of whole lines, so they meet without gap or overlap. */
export interface Page {
  readonly readings: readonly Reading[]
  /** Where the page begins: give it as `before` for the page that precedes it. 0 at the beginning of the file. */
  readonly start: number
  /** Where the page ends: give it as `after` for the page that follows it. */
  readonly end: number
}

export interface PageOptions {
  /** How many entries the page should have; a line with several of them is not cut. */
  readonly limit: number
  /** Which entries count. The others that stand between them are in the page all the same. Default: all. */
  readonly counts?: (entry: Entry) => boolean
}

/** The page that ends before the offset, found by reading backwards. */
export async function readPageBefore(
  file: TranscriptFile,
  format: LineFormat,
  options: PageOptions & { readonly before?: number },
): Promise<Page> {
  const { limit, counts = everyEntry } = options
  const before = Math.min(options.before ?? file.size, file.size)
  const batches: (readonly Reading[])[] = []
  let start = before
  let found = 0
  for await (const { readings, offset } of readBackward(file, format, { before })) {
    batches.push(readings)
    start = offset
    found += countOf(readings, counts)
    if (found >= limit) break
  }
  return { readings: batches.toReversed().flat(), start, end: before }
}

/** The page that begins at the offset. */
export async function readPageAfter(
  file: TranscriptFile,
  format: LineFormat,
  options: PageOptions & { readonly after?: number },
): Promise<Page> {
  const { limit, after = 0, counts = everyEntry } = options
  const readings: Reading[] = []
  let found = 0
  let end = after
  // Small pieces: a page is small, and reading ahead of it is work for nothing.
  for await (const batch of readForward(file, format, { from: after, chunk: 64 * 1024 })) {
    let taken = 0
    for (const [index] of batch.lineStarts.entries()) {
      end = batch.lineStarts[index + 1] ?? batch.next
      for (; taken < batch.readings.length; taken++) {
        const reading = batch.readings[taken]
        if (reading === undefined || placeOf(reading).offset >= end) break
        readings.push(reading)
        if (reading.kind === 'entry' && counts(reading.entry)) found++
      }
      if (found >= limit) return { readings, start: after, end }
    }
  }
  return { readings, start: after, end }
}

function everyEntry(): boolean {
  return true
}

function countOf(readings: readonly Reading[], counts: (entry: Entry) => boolean): number {
  let count = 0
  for (const reading of readings) if (reading.kind === 'entry' && counts(reading.entry)) count++
  return count
}
