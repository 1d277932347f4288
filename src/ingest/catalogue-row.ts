import { dirname } from 'node:path'
import { toCopyName, type CopiedFrom, type LiveState, type SessionCounts, type SessionSummary } from '#model'
import type { Meter, SessionFiles, Source } from '#sources'
import type { FollowedFile } from './followed-file.ts'
import type { GrowthEvent } from './growth.ts'
import { stampOf } from './remembered.ts'
import { growSummary } from './summary-fold.ts'
import { findStatsOf } from './folder-mark.ts'

/** Where sessions are found. What an archive has is shown where the agent's own file is gone. */
export interface CatalogueSource {
  readonly source: Source
  readonly isArchive: boolean
  /** Not what agents write themselves: where they have written a session down too, theirs is the one that is shown. */
  readonly isRecorded?: true
  /** What other machines have. Of a session that is here too, the one that is here is shown. */
  readonly isMirror?: true
  /** Samples are shown whatever folders may be: they tell of nobody's work. */
  readonly isSample?: true
}

export interface CatalogueOptions {
  readonly sources: readonly CatalogueSource[]
  /** Where the last process left what it knew. */
  readonly rememberedPath?: string
  /** Whether a session may be shown that worked in this folder. Absent: any. */
  readonly isAllowed?: ((workdir: string) => boolean) | undefined
  readonly liveOf: (id: string) => LiveState | undefined
  /** What a session does that is on another machine. */
  readonly liveElsewhere?: ((id: string) => LiveState | undefined) | undefined
  readonly preferenceOf: (id: string) => { readonly name?: string | undefined; readonly starred: boolean }
  readonly countsOf: (id: string) => SessionCounts | undefined
  /** What a session was made of, where its own files do not say it. */
  readonly copyOf?: ((id: string) => CopiedFrom | undefined) | undefined
  /** A session is new, changed or went. */
  readonly onChange: (change: CatalogueChange) => void
  readonly now: () => number
  readonly meter?: Meter | undefined
  /** How long nobody writes to a file before its last line is taken without a newline. */
  readonly restMs?: number | undefined
}

export type CatalogueChange =
  /** `files`: those of its files that are new or grew. */
  | { readonly kind: 'changed'; readonly session: SessionSummary; readonly files: readonly string[] }
  | { readonly kind: 'removed'; readonly session: SessionSummary }
  /** Its file is another one now: the archive's when the agent's is gone, the agent's when that is back. */
  | { readonly kind: 'moved'; readonly session: SessionSummary; readonly from: SessionSummary }

/** One session of the catalogue. */
export interface Row {
  readonly from: CatalogueSource
  files: SessionFiles
  stamp: string
  /** What the file says. */
  summary: SessionSummary
  isAllowed: boolean
  /** …and everything else that is known. */
  shown: SessionSummary | undefined
  /** What `shown` was made of. */
  facts: RowFacts | undefined
  file: FollowedFile | undefined
  /** Whether the summary was folded from everything that happened since somebody looked. */
  isFollowed: boolean
  isChanged: boolean
}

/** What is known of a session from elsewhere than its file. */
export interface RowFacts {
  readonly live: LiveState | undefined
  readonly name: string | undefined
  readonly starred: boolean
  readonly counts: SessionCounts | undefined
  readonly copiedFrom: CopiedFrom | undefined
  /** The name that the session it was copied from has in its own file. */
  readonly originName?: string | undefined
}

export function createRow(of: Pick<Row, 'from' | 'files' | 'stamp' | 'summary' | 'isAllowed'>): Row {
  return {
    ...of,
    stamp: sureStamp(of),
    shown: undefined,
    facts: undefined,
    file: undefined,
    isFollowed: false,
    isChanged: false,
  }
}

/** What a stamp is that no file has: it is looked at again the next time. */
const AWAY = 'away'

/**
 * The stamp of what was seen. A file that went away between its stamp and the look at it may come back as it was, as
 * one does whose folder gets another name and then its old one: it was not seen.
 */
export function sureStamp({ files, stamp, summary }: Pick<Row, 'files' | 'stamp' | 'summary'>): string {
  return summary.state === 'unreadable' && stampOf(files) !== stamp ? AWAY : stamp
}

/** Whether it was recorded of a session that is known itself. */
export function isDouble({ from, summary }: Row, own: ReadonlySet<string> | undefined): boolean {
  if (from.isRecorded !== true || own === undefined) return false
  return own.has(summary.id) || own.has(summary.recorded?.of ?? '')
}

/** Recordings that are of sessions that are known themselves, each with that session. */
export function doublesOf(
  rows: Iterable<Row>,
  own: ReadonlySet<string> | undefined,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const row of rows) {
    const { id, recorded } = row.summary
    if (row.isAllowed && isDouble(row, own)) found.set(id, recorded?.of ?? id)
  }
  return found
}

/** The session that something lies beside, or the transcript itself: found on the way up to a root. */
export function rowAround(
  path: string,
  rows: ReadonlyMap<string, Row>,
  { sides, roots }: { readonly sides: ReadonlyMap<string, string>; readonly roots: readonly string[] },
): Row | undefined {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const row = rows.get(at) ?? rows.get(`${at}.jsonl`) ?? rows.get(sides.get(at) ?? '')
    if (row !== undefined) return row
    if (roots.includes(at)) return undefined
  }
  return undefined
}

export function toShown(row: Row, facts: RowFacts): SessionSummary {
  row.facts = facts
  const { live, name, starred, counts, copiedFrom, originName } = facts
  return {
    ...row.summary,
    live,
    ...(copiedFrom === undefined ? {} : toCopied(row.summary, copiedFrom, originName)),
    ...(name === undefined ? {} : { name, nameFrom: 'person' as const }),
    ...(starred ? { starred } : {}),
    ...(row.from.isArchive ? { sourceGone: true } : {}),
    ...(counts === undefined ? {} : { counts }),
  }
}

function toCopied(
  summary: SessionSummary,
  copiedFrom: CopiedFrom,
  origin: string | undefined,
): Pick<SessionSummary, 'copiedFrom' | 'name'> {
  const name = toCopyName(summary, copiedFrom, origin)
  return { copiedFrom, ...(name === undefined ? {} : { name }) }
}

/** Whether what is shown of a session says something else than these facts. */
export function isStale({ shown, facts: known, isAllowed }: Row, facts: RowFacts): boolean {
  if (shown === undefined || known === undefined) return isAllowed
  return (
    known.name !== facts.name ||
    known.starred !== facts.starred ||
    !isSame(known.live, facts.live) ||
    !isSame(known.copiedFrom, facts.copiedFrom) ||
    !isSame(known.counts, facts.counts)
  )
}

/** Small objects: as JSON they are compared faster than field by field. */
function isSame(one: object | undefined, other: object | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

export function sizeOf(path: string): number | undefined {
  return findStatsOf(path)?.size
}

/** What a stamp says of the files beside the transcript. */
export function sidePart(stamp: string): string {
  const at = stamp.indexOf('|')
  return at < 0 ? '' : stamp.slice(at)
}

/** Whether a session may be shown that was just found. */
export async function mayShow(
  from: CatalogueSource,
  summary: SessionSummary,
  isAllowed: CatalogueOptions['isAllowed'],
): Promise<boolean> {
  if (isAllowed === undefined || from.isSample === true) return true
  return await isWithinRoots(from.source, summary, isAllowed)
}

/** Sessions that worked nowhere but inside the roots. One whose working directories are unknown is not shown. */
async function isWithinRoots(
  source: Source,
  summary: SessionSummary,
  isAllowed: (workdir: string) => boolean,
): Promise<boolean> {
  if (!summary.workdirs.every(isAllowed)) return false
  try {
    const own = summary.workdirsComplete ? summary.workdirs : await source.findWorkdirs(summary.path)
    const delegated = await Promise.all(summary.subagents.map(({ path }) => source.findWorkdirs(path)))
    return own.length > 0 && [...own, ...delegated.flat()].every(isAllowed)
  } catch {
    // Of a file that cannot be read nothing is known, so nothing of it is shown.
    return false
  }
}

/** `grown`: of what was added, the working directories are in the summary. A path: that subagent was written to. */
export async function allow(
  row: Row,
  what: 'grown' | 'anew' | { readonly subagent: string },
  isAllowed: CatalogueOptions['isAllowed'],
): Promise<void> {
  if (isAllowed === undefined || row.from.isSample === true) return
  const { source } = row.from
  if (what === 'anew' || row.summary.workdirs.length === 0 || !row.isAllowed) {
    row.isAllowed = await isWithinRoots(source, row.summary, isAllowed)
  } else if (what === 'grown') row.isAllowed = row.summary.workdirs.every(isAllowed)
  else row.isAllowed = (await source.findWorkdirs(what.subagent)).every(isAllowed)
}

/** What lies beside a transcript, as a look at it says. */
export function withSides(
  summary: SessionSummary,
  { subagents, toolResults, archived, name, nameFrom }: SessionSummary,
): SessionSummary {
  const named = nameFrom === 'custom' ? { name, nameFrom } : {}
  return { ...summary, subagents, toolResults, archived, ...named }
}

/** The subagents' files that are not as long as the list says: no stamp tells of what was added to them. */
export function changedSides({ summary }: Row): readonly string[] {
  return summary.subagents.flatMap(({ path, size }) => (sizeOf(path) === size ? [] : [path]))
}

/** Takes in what happened to a session's file. */
export function takeNews(row: Row, event: GrowthEvent): void {
  const { isFollowed } = row
  row.isChanged = true
  // What happened to a file before it was followed is not known: it may have been written anew.
  row.isFollowed = true
  if (event.kind === 'gone') row.stamp = ''
  else if (
    isFollowed &&
    event.kind === 'grown' &&
    row.summary.firstPrompt !== undefined &&
    row.summary.state !== 'empty'
  ) {
    row.summary = growSummary(row.summary, event.readings, event.to)
  } else row.summary = row.from.source.look(row.files)
}

/** Of every `of` files, the one that is numbered `nth` in its turn. */
export interface SweepShare {
  readonly nth: number
  readonly of: number
}

/** Whether a look may leave a session out: nobody follows its file, and it is not its turn. */
export function isLeftOut(row: Row | undefined, share: SweepShare | undefined, nth: number): boolean {
  return share !== undefined && row !== undefined && row.file === undefined && nth % share.of !== share.nth
}

/** Whether the file of a session is that of another one now. */
export function isRenamed(row: Row, files: SessionFiles | undefined): boolean {
  return files !== undefined && files.id !== row.files.id
}
