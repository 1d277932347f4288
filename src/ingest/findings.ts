import type { SessionFiles, SourceProblem } from '#sources'
import type { CatalogueSource } from './catalogue-row.ts'

/** What the folders had when they were looked into. */
export interface Findings {
  readonly stamps: readonly string[]
  readonly found: ReadonlyMap<string, { readonly from: CatalogueSource; readonly files: SessionFiles }>
  readonly problems: readonly SourceProblem[]
  /** The ids of sessions that agents have written down themselves, or that are kept of those. */
  readonly own: ReadonlySet<string>
  /** The transcripts, by the folders beside them. */
  readonly sides: ReadonlyMap<string, string>
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
  const all: { from: CatalogueSource; files: SessionFiles }[] = []
  const problems: SourceProblem[] = []
  for (const from of sources) {
    const { sessions, problems: told } = await from.source.find()
    if (!from.isArchive) problems.push(...told)
    for (const files of sessions) all.push({ from, files })
  }
  const own = new Set(
    all.flatMap(({ from, files }) => (from.isRecorded === true || from.isMirror === true ? [] : [files.id])),
  )
  const found = new Map<string, { from: CatalogueSource; files: SessionFiles }>()
  const ids = new Set<string>()
  const sides = new Map<string, string>()
  for (const each of all) {
    const { id, path, sideDir } = each.files
    if ((each.from.isArchive || each.from.isMirror === true) && ids.has(id)) continue
    if (each.from.isRecorded === true && own.has(id)) continue
    ids.add(id)
    found.set(path, each)
    if (sideDir !== undefined) sides.set(sideDir, path)
  }
  return { stamps, found, problems, own, sides }
}
