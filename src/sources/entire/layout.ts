import { type Dirent } from 'node:fs'
import { join, normalize, sep } from 'node:path'
import { entriesOf, findLinkStats, isDir, realDir, stampOfDirs } from '../folders.ts'
import type { SessionFiles } from '../source.ts'

export interface Layout {
  readonly sessions: readonly SessionFiles[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

const ENTIRE = '.entire'
const METADATA = 'metadata'
const TRANSCRIPT = 'full.jsonl'
const SUBAGENTS = 'subagents'
const TASKS = 'tasks'

const ID = /^[A-Za-z0-9_-]{1,128}$/
/** `{date}-{uuid}`: how recorders name their sessions. Entire itself takes the agent's own id. */
const DATED = /^\d{4}-\d{2}-\d{2}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Session folders of one worktree that are watched: the youngest. What else grows is found by looking. */
const WATCHED = 256

/** Whether a path lies in the layout of Entire, wherever that is. */
export function isInEntire(path: string): boolean {
  return IN_LAYOUT.test(path)
}

const IN_LAYOUT = /[\\/]\.entire[\\/]metadata[\\/][A-Za-z0-9_-]{1,128}[\\/][^\\/]/

/** Whether a recorder gave a session this id. */
export function isRecorderId(id: string): boolean {
  return DATED.test(id)
}

/**
 * Finds `.entire/metadata/<session>/full.jsonl` in these folders, whose paths have no links in them. Follows none
 * below them either: they would lead out of what a person has let us see.
 */
export function findTranscripts(folders: readonly string[]): Layout {
  const sessions = new Map<string, SessionFiles>()
  const problems: { path: string; message: string }[] = []
  for (const dir of folders.flatMap(metadataOf)) {
    for (const child of entriesOf(dir)) {
      const sideDir = `${dir}${sep}${child.name}`
      if (child.isSymbolicLink())
        problems.push({ path: sideDir, message: 'is a link, and links are not followed' })
      if (!child.isDirectory()) continue
      const path = `${sideDir}${sep}${TRANSCRIPT}`
      const stats = findLinkStats(path)
      if (stats === undefined) continue
      if (!stats.isFile())
        problems.push({ path, message: 'is not a regular file, and links are not followed' })
      else if (!ID.test(child.name)) problems.push({ path, message: 'has a name that no session id has' })
      else takeLarger(sessions, { id: child.name, path, sideDir }, stats.size)
    }
  }
  return { sessions: [...sessions.values()], problems }
}

/** Worktrees of one repository may each have a copy of one session: the one that has most of it counts. */
function takeLarger(sessions: Map<string, SessionFiles>, files: SessionFiles, size: number): void {
  const known = sessions.get(files.id)
  const before = known && findLinkStats(known.path)?.size
  if (before === undefined || before < size) sessions.set(files.id, files)
}

/** The subagents' transcripts that Entire itself copies, each in the folder of the call that started it. */
export function findTaskFiles(
  sideDir: string,
): readonly { readonly path: string; readonly toolUseId: string }[] {
  const tasks = `${sideDir}${sep}${TASKS}`
  return foldersIn(tasks).flatMap(({ name: toolUseId }) =>
    entriesOf(`${tasks}${sep}${toolUseId}`)
      .filter((child) => child.isFile() && /^agent-.+\.jsonl$/.test(child.name))
      .map((child) => ({ path: `${tasks}${sep}${toolUseId}${sep}${child.name}`, toolUseId })),
  )
}

/**
 * The folders in which files come and grow: where `metadata` is, it, the sessions in it and their subagents; else
 * `.entire`, so that its coming is seen. With `under`, only that folder and those below it.
 */
export function findFolders(folders: readonly string[], under?: string): readonly string[] {
  if (under === undefined) return folders.flatMap((folder) => foldersOf(folder))
  const at = under.lastIndexOf(`${sep}${ENTIRE}`)
  if (at < 0 || !folders.includes(under.slice(0, at)) || !isDir(under)) return []
  const [, entire, metadata, session, beside] = under.slice(at).split(sep)
  if (entire !== ENTIRE) return []
  if (metadata === undefined) return foldersOf(under.slice(0, at))
  if (metadata !== METADATA) return []
  if (session === undefined) return foldersOf(under.slice(0, at))
  if (beside === undefined) return [under, ...besides(under)]
  return beside === SUBAGENTS ? [under] : []
}

function foldersOf(folder: string): readonly string[] {
  const [metadata] = metadataOf(folder)
  if (metadata === undefined) {
    const entire = `${folder}${sep}${ENTIRE}`
    return isDir(entire) ? [entire] : []
  }
  const sessions = foldersIn(metadata).map(({ name }) => `${metadata}${sep}${name}`)
  const watched = sessions.length <= WATCHED ? sessions : youngest(sessions)
  return [metadata, ...watched.flatMap((dir) => [dir, ...besides(dir)])]
}

function youngest(dirs: readonly string[]): readonly string[] {
  const times = new Map(dirs.map((dir) => [dir, findLinkStats(dir)?.mtimeMs ?? 0]))
  return dirs.toSorted((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0)).slice(0, WATCHED)
}

function besides(session: string): readonly string[] {
  const subagents = `${session}${sep}${SUBAGENTS}`
  return isDir(subagents) ? [subagents] : []
}

/** Changes when a session came or went: a transcript may be made after its folder. */
export function stampOfFolders(folders: readonly string[], now: number): string {
  const dirs = folders.flatMap(metadataOf)
  if (dirs.length === 0) return 'none'
  const sessions = dirs.flatMap((dir) => foldersIn(dir).map(({ name }) => `${dir}${sep}${name}`))
  return stampOfDirs([...dirs, ...sessions], now)
}

function metadataOf(folder: string): readonly string[] {
  const entire = `${folder}${sep}${ENTIRE}`
  const metadata = `${entire}${sep}${METADATA}`
  return isDir(entire) && isDir(metadata) ? [metadata] : []
}

function foldersIn(dir: string): readonly Dirent[] {
  return entriesOf(dir).filter((child) => child.isDirectory())
}

/** Finds where a file stands below `root`: `…/.entire/metadata/<session>/…`. Any other path has no place. */
export function createPlaceFinder(root: string): (path: string) => string | undefined {
  const named = root.endsWith(sep) ? root : `${root}${sep}`
  let real: string | undefined
  return (path) => {
    if (normalize(path) !== path || !isInEntire(path)) return undefined
    if (path.startsWith(named)) return path.slice(named.length)
    real ??= realDir(root)
    return real !== undefined && path.startsWith(`${real}${sep}`) ? path.slice(real.length + 1) : undefined
  }
}

/** How deep below an archive's root folders are looked for. */
const DEPTH = 64

/** Every folder below `root` that has `.entire` in it, for a root that holds nothing else: an archive. */
export function findEntireFolders(root: string): readonly string[] {
  const found: string[] = []
  const visit = (dir: string, depth: number): void => {
    for (const { name } of foldersIn(dir)) {
      if (name === ENTIRE) found.push(dir)
      else if (depth < DEPTH && !(depth === 0 && name === REPLACED)) visit(join(dir, name), depth + 1)
    }
  }
  visit(realDir(root) ?? root, 0)
  return found
}

/** Where an archive keeps versions that were set aside. */
const REPLACED = 'replaced'
