import { openSharedJournal, readJournal, readJournalMark, rewriteSharedJournal } from '#journal'
import { createDocumentFold, readVersion, toVersionJson } from '#model'
import type { DocumentFold, DocumentVersion } from '#model'

/** The log of all versions, shared with every other process that opens it. */
export interface DocumentLog {
  /** What the log says, as far as it was read. Another one after somebody else has written. */
  fold(): DocumentFold
  /** Reads what others have written since. Resolves with whether there was anything. */
  refresh(): Promise<boolean>
  /**
   * Writes what `decide` makes of the log as it is, with nobody writing in between. The versions are on disk when it
   * resolves. Rejects with `journal-locked` when another process writes for longer than five seconds.
   */
  write(decide: (fold: DocumentFold) => readonly DocumentVersion[]): Promise<readonly DocumentVersion[]>
  /** Takes every version of a document out of the log for good, and leaves this one. */
  erase(id: string, left: DocumentVersion): Promise<void>
}

/** Versions that one's other machines wrote. They count as if they stood in the log. */
export interface VersionsElsewhere {
  versions(): readonly DocumentVersion[]
  /** Another one when the versions are others. */
  revision(): string
}

/** The log at `path`. Nothing is held between two calls, so that several processes can write to it in turn. */
export function createDocumentLog(path: string, elsewhere?: VersionsElsewhere): DocumentLog {
  let fold = createDocumentFold()
  let seen = ''
  let queue: Promise<unknown> = Promise.resolve()

  async function markNow(): Promise<string> {
    return `${await readJournalMark(path)} ${elsewhere?.revision() ?? ''}`
  }

  async function refresh(): Promise<boolean> {
    const mark = await markNow()
    if (mark === seen) return false
    const fresh = createDocumentFold()
    for await (const item of readJournal(path)) {
      const version = item.kind === 'line' ? readVersion(item.value) : undefined
      if (version) fresh.add(version)
    }
    for (const version of elsewhere?.versions() ?? []) fresh.add(version)
    fold = fresh
    seen = mark
    return true
  }

  async function write(
    decide: (fold: DocumentFold) => readonly DocumentVersion[],
  ): Promise<readonly DocumentVersion[]> {
    const journal = await openSharedJournal(path)
    try {
      await refresh()
      const versions = decide(fold)
      await Promise.all(
        versions.map(async (version) => {
          await journal.append(toVersionJson(version))
          fold.add(version)
        }),
      )
      // Still locked: everything up to here is known.
      seen = await markNow()
      return versions
    } catch (error) {
      seen = ''
      throw error
    } finally {
      await journal.close()
    }
  }

  async function erase(id: string, left: DocumentVersion): Promise<void> {
    await rewriteSharedJournal(path, {
      takesOut: (value) => readVersion(value)?.document.id === id,
      added: [toVersionJson(left)],
    })
    seen = ''
    await refresh()
  }

  /** One after another, so that a read never replaces what a write is adding to. */
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work)
    queue = turn.catch(() => {})
    return await turn
  }

  return {
    fold: () => fold,
    refresh: async () => await inTurn(refresh),
    write: async (decide) => await inTurn(async () => await write(decide)),
    erase: async (id, left) => await inTurn(async () => await erase(id, left)),
  }
}

/** Those of some versions that a log does not have yet, each once. */
export function toUnknown(
  versions: readonly DocumentVersion[],
  fold: DocumentFold,
): readonly DocumentVersion[] {
  const known = new Set<string>()
  for (const id of new Set(versions.map(({ document }) => document.id))) {
    for (const version of fold.versions(id)) known.add(keyOf(version))
  }
  return versions.filter((version) => {
    const key = keyOf(version)
    return !known.has(key) && known.add(key).size > 0
  })
}

function keyOf(version: DocumentVersion): string {
  return JSON.stringify(toVersionJson(version))
}
