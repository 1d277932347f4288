import type { IndexState } from '#wire'
import type { KnownFiles } from './indexing/known-files.ts'

export interface IndexProgress {
  readonly files: { readonly done: number; readonly total: number }
  readonly bytes: { readonly done: number; readonly total: number }
  readonly complete: boolean
}

/** How far all files are in the index. `waiting`: those that are still to be read. */
export function toProgress(
  { files, bytes, done }: KnownFiles['total'],
  { waiting, complete }: { readonly waiting: number; readonly complete: boolean },
): IndexProgress {
  return {
    files: { done: Math.max(0, files - waiting), total: files },
    bytes: { done, total: bytes },
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
