import { toCounts, type SessionCounts } from '#model'
import type { IndexedFile, Store, StoredCompaction } from '#store'
import { readFold } from './file-fold.ts'

/** What sessions amount to: what was tallied while they were read, and what their bills come to. The given ones, or all. */
export async function countSessions(
  store: Store,
  files: Iterable<IndexedFile>,
  sessions: readonly string[] | undefined,
): Promise<ReadonlyMap<string, SessionCounts>> {
  const billed = new Map((await store.totals(sessions)).map((total) => [total.session, total]))
  const wanted = sessions === undefined ? undefined : new Set(sessions)
  const counts = new Map<string, SessionCounts>()
  for (const file of files) {
    if (file.subagent !== undefined || (wanted !== undefined && !wanted.has(file.session))) continue
    const total = billed.get(file.session)
    const { tally } = readFold(file.fold, file.workdirs)
    counts.set(file.session, toCounts(tally, total && { replies: total.replies, usage: total.usage }))
  }
  return counts
}

/** Every compaction, as each file tells it. */
export function* listCompactions(files: Iterable<IndexedFile>): Generator<StoredCompaction> {
  for (const { path, fold, workdirs } of files) {
    for (const compaction of readFold(fold, workdirs).compactions.values()) yield { ...compaction, path }
  }
}
