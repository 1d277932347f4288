import type { BillRow, Change, EntryRow, IndexedFile } from '#store'
import { foldReadings, toFoldJson, type FileFold } from './file-fold.ts'
import { toIndexed, type IndexTask } from './index-task.ts'
import type { NewLines } from './new-lines.ts'

/** What was read and is not written yet. */
export interface OpenBatch {
  /** Files that have something in it. */
  readonly size: number
  readonly characters: number
  readonly rows: number
  has(path: string): boolean
  paths(): readonly string[]
  /** Takes in what some lines of a file say. */
  add(task: IndexTask, lines: AddedLines): void
  /** How far the file is now. */
  put(task: IndexTask, at: FileProgress): void
  drop(path: string): void
  /** What is to be written. */
  changes(): readonly Extract<Change, { kind: 'advance' }>[]
}

type Advance = Extract<Change, { kind: 'advance' }> & {
  readonly entries: EntryRow[]
  readonly replaced: number[]
  readonly billed: Map<string, BillRow>
}

interface AddedLines extends TakeOptions {
  readonly fold: FileFold
  readonly piece: Pick<NewLines, 'readings' | 'lines' | 'torn'>
}

interface TakeOptions {
  readonly as: 'past' | 'news'
  readonly anew: boolean
  readonly before: IndexedFile | undefined
}

interface FileProgress {
  readonly fold: FileFold
  readonly offset: number
  readonly seen: string
  readonly guard: string
}

export function createOpenBatch(origin: string): OpenBatch {
  const held = new Map<string, Advance>()
  let characters = 0
  let rows = 0

  /** The change of this file in the batch. */
  function take(task: IndexTask, { as, anew, before }: TakeOptions): Advance {
    const known = held.get(task.path)
    if (known !== undefined) return known
    const change: Advance = {
      kind: 'advance',
      file: before ?? toIndexed(task, origin),
      anew,
      as,
      entries: [],
      replaced: [],
      bills: [],
      billed: new Map(),
    }
    held.set(task.path, change)
    return change
  }

  return {
    get size() {
      return held.size
    },
    get characters() {
      return characters
    },
    get rows() {
      return rows
    },
    has: (path) => held.has(path),
    paths: () => [...held.keys()],
    add(task, { fold, piece, ...how }) {
      fold.tally.lines += piece.lines
      fold.torn = piece.torn
      const change = take(task, how)
      const before = change.entries.length
      characters += foldReadings(fold, piece.readings, { ...change, bills: change.billed })
      rows += change.entries.length - before
    },
    put(task, { fold, offset, guard, seen }) {
      const change = held.get(task.path)
      if (change === undefined) return
      const workdirs = [...fold.workdirs]
      const file = { ...toIndexed(task, origin), workdirs, offset, guard, seen, fold: toFoldJson(fold) }
      held.set(task.path, { ...change, file })
    },
    drop: (path) => held.delete(path),
    changes: () =>
      [...held.values()].map(({ billed, ...change }) => ({ ...change, bills: [...billed.values()] })),
  }
}
