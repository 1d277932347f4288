import type { IndexedFile } from '#store'
import type { IndexState } from '#wire'

export interface IndexProgress {
  readonly files: { readonly done: number; readonly total: number }
  readonly bytes: { readonly done: number; readonly total: number }
  readonly complete: boolean
}

/** How far all files are in the index. `sizes`: how large each one is; `waiting`: those that are still to be read. */
export function toProgress(
  sizes: ReadonlyMap<string, number>,
  known: ReadonlyMap<string, IndexedFile>,
  { waiting, complete }: { readonly waiting: number; readonly complete: boolean },
): IndexProgress {
  let total = 0
  let done = 0
  for (const [path, size] of sizes) {
    total += size
    done += Math.min(known.get(path)?.offset ?? 0, size)
  }
  return {
    files: { done: Math.max(0, sizes.size - waiting), total: sizes.size },
    bytes: { done, total },
    complete,
  }
}

/** The state of an index as it is shown. Without progress there is no index to speak of. */
export function toState(
  progress: IndexProgress | undefined,
  { failed, waiting, size }: { readonly failed: boolean; readonly waiting: number; readonly size: number },
): IndexState {
  if (progress === undefined) {
    const files = { done: 0, total: waiting }
    return { state: failed ? 'failed' : 'building', files, bytes: { done: 0, total: 0 }, size }
  }
  const { files, bytes, complete } = progress
  return { state: complete ? 'complete' : 'building', files, bytes, size }
}
