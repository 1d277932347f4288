import type { SessionFiles, SourceProblem } from '#sources'
import { keyOf, type CatalogueSource } from './catalogue-row.ts'

/** What the folders had when they were looked into. */
export interface Findings {
  readonly stamps: readonly string[]
  readonly found: ReadonlyMap<string, { readonly from: CatalogueSource; readonly files: SessionFiles }>
  readonly problems: readonly SourceProblem[]
}

/** The files of every session. Folders that did not change since are not looked into again. */
export async function findAll(
  sources: readonly CatalogueSource[],
  before: Findings | undefined,
  now: number,
): Promise<Findings> {
  // Before they are looked into: what comes meanwhile changes them.
  const stamps = sources.map(({ source }) => source.stamp(now))
  if (before !== undefined && stamps.every((stamp, at) => stamp === before.stamps[at] && stamp !== ''))
    return before
  const found = new Map<string, { from: CatalogueSource; files: SessionFiles }>()
  const ids = new Set<string>()
  const problems: SourceProblem[] = []
  for (const from of sources) {
    const { sessions, problems: told } = await from.source.find()
    if (!from.isArchive) problems.push(...told)
    for (const files of sessions) {
      const key = keyOf({ from, files })
      if (from.isArchive && ids.has(key)) continue
      ids.add(key)
      found.set(files.path, { from, files })
    }
  }
  return { stamps, found, problems }
}
