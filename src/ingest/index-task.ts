import { ThroughlineError } from '#base'
import { openTranscript, type Meter, type TranscriptFile } from '#sources'
import type { IndexedFile } from '#store'
import type { KnownFiles } from './indexing/known-files.ts'
import { findStatsOf } from './folder-mark.ts'

/** A transcript to be indexed. */
export interface IndexTask {
  readonly path: string
  readonly agent: string
  readonly session: string
  readonly subagent?: string | undefined
  /** When its session began. Empty when unknown. */
  readonly createdAt: string
}

/** A file of which nothing is in the index yet. */
export function toIndexed(task: IndexTask, origin: string): IndexedFile {
  return { ...task, origin, workdirs: [], offset: 0, guard: '', seen: '', fold: '' }
}

/** What a file looked like when it was opened. */
export function seenOf({ size, modifiedMs, identity }: TranscriptFile): string {
  return `${size}:${modifiedMs}:${identity}`
}

/** …when something of it was still to be read: it does not look like that the next time. */
export function toUnfinished(seen: string): string {
  return `${seen}:unfinished`
}

/** The same of a file that nobody opens: from its entry in its folder. */
function findSeen(
  path: string,
): { readonly seen: string; readonly size: number; readonly modifiedMs: number } | undefined {
  const stats = findStatsOf(path)
  if (stats === undefined) return undefined
  const { size, mtimeMs, dev, ino } = stats
  return { seen: `${size}:${mtimeMs}:${dev}:${ino}`, size, modifiedMs: mtimeMs }
}

interface OpenOptions {
  readonly meter?: Meter
  readonly onProblem?: (path: string, error: unknown) => void
}

/**
 * Of all the files that there are, those that are to be read, with their sizes noted. A file nobody knows that is
 * younger than all that are known was begun while nobody was there: it is news.
 */
export function sortOut(
  tasks: readonly IndexTask[],
  known: Pick<KnownFiles, 'byPath' | 'size'>,
): { readonly past: readonly IndexTask[]; readonly begun: readonly IndexTask[] } {
  const youngest = youngestOf(known.byPath.values())
  const past: IndexTask[] = []
  const begun: IndexTask[] = []
  for (const task of tasks) {
    const found = findSeen(task.path)
    if (found === undefined) continue
    known.size(task.path, found.size)
    const file = known.byPath.get(task.path)
    if (file?.seen === found.seen && file.createdAt === task.createdAt) continue
    const isNews = file === undefined && youngest !== undefined && found.modifiedMs > youngest
    if (isNews) begun.push(task)
    else past.push(task)
  }
  return { past, begun }
}

/** When the youngest of these files was changed last, as it was seen. */
function youngestOf(files: Iterable<IndexedFile>): number | undefined {
  let youngest: number | undefined
  for (const { seen } of files) {
    const at = Number(seen.split(':')[1])
    if (!Number.isNaN(at)) youngest = Math.max(youngest ?? 0, at)
  }
  return youngest
}

/** Opens a transcript; a file that is gone is none, and one that cannot be opened is told. */
export function openIfThere(path: string, { meter, onProblem }: OpenOptions): TranscriptFile | undefined {
  try {
    return openTranscript(path, meter)
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error
    if (error.code !== 'transcript-gone') onProblem?.(path, error)
    return undefined
  }
}
