import { toCounts, type SessionCounts } from '#model'
import type { IndexedFile, Store, StoredCompaction } from '#store'
import type { KnownFiles } from './indexing/known-files.ts'
import { readFold, tallyOf } from './file-fold.ts'

/** What sessions amount to: what was tallied while they were read, and what their bills come to. The given ones, or all. */
export async function countSessions(
  store: Store,
  known: Pick<KnownFiles, 'byPath' | 'ofSession'>,
  sessions: readonly string[] | undefined,
): Promise<ReadonlyMap<string, SessionCounts>> {
  const billed = new Map((await store.totals(sessions)).map((total) => [total.session, total]))
  const files = sessions?.flatMap((session) => [...known.ofSession(session)]) ?? known.byPath.values()
  const counts = new Map<string, SessionCounts>()
  for (const file of files) {
    if (file.subagent !== undefined) continue
    const total = billed.get(file.session)
    const fold = readFold(file.fold, file.workdirs)
    const replies = (total?.replies ?? 0) - fold.noReplies.size
    counts.set(file.session, toCounts(tallyOf(fold), total && { replies, usage: total.usage }))
  }
  return counts
}

/** Every compaction, as each file tells it. */
export function* listCompactions(files: Iterable<IndexedFile>): Generator<StoredCompaction> {
  for (const { path, fold, workdirs } of files) {
    for (const compaction of readFold(fold, workdirs).compactions.values()) yield { ...compaction, path }
  }
}

/** The rows of all other sessions. */
export function* exceptSessions<Row extends { readonly session: string }>(
  leftOut: readonly string[],
  rows: Iterable<Row>,
): Generator<Row> {
  const ids = new Set(leftOut)
  for (const row of rows) if (!ids.has(row.session)) yield row
}
