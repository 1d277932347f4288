import type { RecordedFolders } from './recorded-folders.ts'

/** Finds out when recordings are in other folders than before. */
export interface LookAround {
  now(): void
  /** In a moment: many sessions may come at once. */
  soon(): void
  close(): void
}

export function createLookAround({
  folders,
  workdirs,
  onFound,
}: {
  readonly folders: RecordedFolders
  /** Where the sessions that are known worked. */
  readonly workdirs: () => readonly string[]
  readonly onFound: () => void
}): LookAround {
  let waiting: NodeJS.Immediate | undefined

  function look(): void {
    waiting = undefined
    if (folders.look(workdirs())) onFound()
  }

  return {
    now: look,
    soon() {
      waiting ??= setImmediate(look)
    },
    close: () => clearImmediate(waiting),
  }
}
