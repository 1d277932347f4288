import type { IndexedFile } from '#store'

/** How far every file is in the index. What is asked of it after every line costs what changed, not how many there are. */
export interface KnownFiles {
  readonly byPath: ReadonlyMap<string, IndexedFile>
  put(file: IndexedFile): void
  drop(path: string): void
  /** How large a file is, indexed or not. With nothing, there is no such file any longer. */
  size(path: string, bytes: number | undefined): void
  sizeOf(path: string): number | undefined
  ofSession(session: string): Iterable<IndexedFile>
  /** The files whose size is known, and their bytes, in all and in the index. */
  readonly total: { readonly files: number; readonly bytes: number; readonly done: number }
}

export function createKnownFiles(): KnownFiles {
  const byPath = new Map<string, IndexedFile>()
  const sizes = new Map<string, number>()
  const bySession = new Map<string, Map<string, IndexedFile>>()
  let bytes = 0
  let done = 0

  const doneOf = (path: string): number => Math.min(byPath.get(path)?.offset ?? 0, sizes.get(path) ?? 0)

  /** Changes what is known of one file, and the sums with it. */
  function change(path: string, act: () => void): void {
    bytes -= sizes.get(path) ?? 0
    done -= doneOf(path)
    act()
    bytes += sizes.get(path) ?? 0
    done += doneOf(path)
  }

  function leaveSession(path: string): void {
    const { session = '' } = byPath.get(path) ?? {}
    const same = bySession.get(session)
    same?.delete(path)
    if (same?.size === 0) bySession.delete(session)
  }

  return {
    byPath,
    put(file) {
      change(file.path, () => {
        if (byPath.get(file.path)?.session !== file.session) leaveSession(file.path)
        byPath.set(file.path, file)
        const same = bySession.get(file.session) ?? new Map<string, IndexedFile>()
        bySession.set(file.session, same.set(file.path, file))
      })
    },
    drop(path) {
      change(path, () => {
        leaveSession(path)
        byPath.delete(path)
      })
    },
    size(path, now) {
      change(path, () => (now === undefined ? sizes.delete(path) : sizes.set(path, now)))
    },
    sizeOf: (path) => sizes.get(path),
    ofSession: (session) => bySession.get(session)?.values() ?? [],
    get total() {
      return { files: sizes.size, bytes, done }
    },
  }
}
