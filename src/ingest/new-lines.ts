import type { Damage, Reading } from '#model'
import {
  endOfLines,
  findNextLine,
  readForward,
  readOpenLine,
  type LineFormat,
  type TranscriptFile,
} from '#sources'
import type { IndexedFile } from '#store'
import { guardAt, isGuarded } from './file-guard.ts'

/** Where to go on in a file that was read before; nothing when it has to be read anew. */
export function whereToGoOn(file: TranscriptFile, before: IndexedFile | undefined): number | undefined {
  if (before === undefined || before.offset > file.size) return undefined
  if (!isGuarded(file, before.offset, before.guard)) return undefined
  // A last line that was taken without its newline, and went on otherwise, is another one.
  return findNextLine(file, before.offset)
}

/** What a piece of a file says. */
export interface NewLines {
  readonly readings: readonly Reading[]
  readonly lines: number
  /** Everything before this offset has been told. */
  readonly offset: number
  /** Says what stands before the offset. */
  readonly guard: () => string
  readonly isLast: boolean
  /** What is wrong with a last line that cannot be read. It is not told: it may go on. */
  readonly torn?: readonly Damage[]
  /** A last line without its newline is left out, because it may still be coming. */
  readonly isUnfinished?: true
}

/**
 * Reads what is new of a file, in pieces. A last line without its newline is read when the file is at rest: as a
 * record, if it can be read, and else as a torn line.
 */
export async function* readNewLines(
  file: TranscriptFile,
  format: LineFormat,
  { from, isAtRest }: { readonly from: number; readonly isAtRest: () => boolean },
): AsyncGenerator<NewLines> {
  // Before it is read: of a file that is written anew meanwhile, what was read is void at the next look.
  const end = Math.max(from, await endOfLines(file))
  const guards = { lines: guardAt(file, end), all: end < file.size ? guardAt(file, file.size) : '' }
  let offset = from
  for await (const { readings, lineStarts, next } of readForward(file, format, { from, to: end })) {
    offset = next
    const guard = next < end ? () => guardAt(file, next) : () => guards.lines
    const isLast = next === file.size
    yield { readings, lines: lineStarts.length, offset, guard, isLast }
    if (isLast) return
  }
  const last = { readings: [], lines: 0, offset, guard: () => guards.lines, isLast: true }
  if (end === file.size) yield last
  else if (!isAtRest()) yield { ...last, isUnfinished: true }
  else {
    const { readings, isReadable } = await readOpenLine(file, format, end)
    const torn = readings.flatMap((reading) => (reading.kind === 'damage' ? [reading.damage] : []))
    if (!isReadable) yield { ...last, torn }
    else yield { readings, lines: 1, offset: file.size, guard: () => guards.all, isLast: true }
  }
}
