import type { BillRow, Change, EntryRow, IndexedFile } from '#store'
import { toFoldJson, type FileFold } from './file-fold.ts'
import { toIndexed, type IndexTask } from './index-task.ts'

/** What was read and is not written yet. */
export interface OpenBatch {
  /** Files that have something in it. */
  readonly size: number
  readonly characters: number
  readonly rows: number
  has(path: string): boolean
  paths(): readonly string[]
  /** The change of this file in the batch. */
  take(task: IndexTask, how: TakeOptions): Advance
  /** How far the file is now. */
  put(task: IndexTask, at: FileProgress): void
  /** So much was added to it. */
  count(characters: number, rows: number): void
  drop(path: string): void
  /** What is to be written. */
  changes(): readonly Extract<Change, { kind: 'advance' }>[]
}

type Advance = Extract<Change, { kind: 'advance' }> & {
  readonly entries: EntryRow[]
  readonly billed: Map<string, BillRow>
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
    take(task, { as, anew, before }) {
      const known = held.get(task.path)
      if (known !== undefined) return known
      const change: Advance = {
        kind: 'advance',
        file: before ?? toIndexed(task, origin),
        anew,
        as,
        entries: [],
        bills: [],
        billed: new Map(),
      }
      held.set(task.path, change)
      return change
    },
    put(task, { fold, offset, guard, seen }) {
      const change = held.get(task.path)
      if (change === undefined) return
      const workdirs = [...fold.workdirs]
      const file = { ...toIndexed(task, origin), workdirs, offset, guard, seen, fold: toFoldJson(fold) }
      held.set(task.path, { ...change, file })
    },
    count(more, moreRows) {
      characters += more
      rows += moreRows
    },
    drop: (path) => held.delete(path),
    changes: () =>
      [...held.values()].map(({ billed, ...change }) => ({ ...change, bills: [...billed.values()] })),
  }
}
