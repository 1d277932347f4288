import type { LoggedLine, TeamLog } from '#store'
import type { MirrorFile } from './mirror-file.ts'
import { covers, lastEnd, missingOf, type Range } from './mirror-ranges.ts'

/** What is asked for at once. */
const PAGE = 512 * 1024
/** How far before a place its line is looked for, first. */
const BACK = 16 * 1024
/** A line that is not in a page is put on disk in pieces; one that is larger is no line. */
export const LONGEST_FILE: number = 2 ** 40

/** Fetches lines of one file out of the log, whole ones, and puts them in their place. */
export async function fetchRange(log: TeamLog, file: MirrorFile, wanted: Range): Promise<number> {
  let fetched = 0
  for (const missing of missingOf(file.ranges, wanted)) {
    const start = await findLineStart(log, file, missing.from)
    fetched += await fetchLines(log, file, { from: start, to: missing.to })
  }
  return fetched
}

/** From the beginning of a line on, until a place is passed. */
async function fetchLines(log: TeamLog, file: MirrorFile, { from, to }: Range): Promise<number> {
  let fetched = 0
  /** Up to here everything is in its place. */
  let at = from
  for (let next: number | undefined = from; next !== undefined && next < to;) {
    const page = await log.readPage({
      file: file.stored.number,
      from: next,
      bytes: Math.min(PAGE, to - next),
    })
    for (const line of page.lines) {
      if (line.offset > at && at < to) file.fillGap(at, line.offset)
      // Reaching what is here already: it ends where a line does.
      if (line.offset >= to && at >= to) return fetched
      fetched += await putLine(log, file, line)
      at = Math.max(at, line.offset + line.length)
    }
    ;({ next } = page)
  }
  // Lines behind the last that there is were held back: their place is known, for the file is as long.
  const end = Math.min(to, file.size)
  if (at < end && !covers(file.ranges, { from: at, to: end })) {
    for (const gap of missingOf(file.ranges, { from: at, to: end })) file.fillGap(gap.from, gap.to)
  }
  return fetched
}

/** Puts a line in its place, whatever its length. Says how many bytes came for it. */
export async function putLine(log: TeamLog, file: MirrorFile, line: LoggedLine): Promise<number> {
  const { offset, length, bytes } = line
  if (offset < 0 || offset + length > LONGEST_FILE) return 0
  if (bytes !== undefined) {
    file.write(offset, bytes)
    return bytes.length
  }
  let at = offset
  for await (const piece of log.readLine(file.stored.number, offset)) {
    file.writePiece(at, piece)
    at += piece.length
  }
  if (at === offset + length) file.claim(offset, at)
  return at - offset
}

/** Where a line begins that is not behind a place: the one that the place is in, or one before it. */
async function findLineStart(log: TeamLog, file: MirrorFile, place: number): Promise<number> {
  const known = lastEnd(file.ranges, place)
  for (let back = BACK; ; back *= 8) {
    const at = Math.max(known, place - back)
    // Everything that is here ends where a line does, and every file begins where one does.
    if (at === known) return known
    const { lines } = await log.readPage({ file: file.stored.number, from: at, bytes: 1 })
    const [first] = lines
    if (first !== undefined && first.offset <= place) return first.offset
  }
}
