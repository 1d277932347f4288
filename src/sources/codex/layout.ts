import { readdirSync, realpathSync, type Dirent } from 'node:fs'
import { join, normalize, sep } from 'node:path'
import { findLinkStats, findStats } from '../folders.ts'

/** A rollout, as far as its name and its place tell. */
export interface RolloutFile {
  readonly path: string
  /** The thread, as the name has it. */
  readonly id: string
  /** Set for a file that was begun after a revert. */
  readonly segment: string | undefined
  readonly archived: boolean
  readonly compressed: boolean
}

export interface Layout {
  readonly files: readonly RolloutFile[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

const SESSIONS = 'sessions'
const ARCHIVED = 'archived_sessions'
const LOCKS = 'thread-writer-locks'
const ROLLOUT =
  /^rollout-(?:\d{4}-\d\d-\d\d(?:T\d\d-\d\d-\d\d)?-)?([A-Za-z0-9-]{1,128}?)(?:_([A-Za-z0-9-]{1,128}))?\.json(?:l(\.zst)?)?$/u
/** Year, month, day; deeper ones are nobody's. */
const DEEPEST = 6

/** What the name of a file says of a rollout. Nothing for a name that no rollout has. */
export function readName(name: string): Pick<RolloutFile, 'id' | 'segment' | 'compressed'> | undefined {
  const match = ROLLOUT.exec(name)
  if (match === null) return undefined
  return { id: match[1] ?? '', segment: match[2], compressed: match[3] !== undefined }
}

/** Finds every rollout. Looks at the folders themselves, never at a database or an index, and follows no link in them. */
export function findRollouts(codexHome: string): Layout {
  const files: RolloutFile[] = []
  const problems: { path: string; message: string }[] = []
  for (const name of [SESSIONS, ARCHIVED]) {
    const root = realDir(join(codexHome, name))
    if (root !== undefined) visit(root, { archived: name === ARCHIVED, depth: 0 })
  }
  return { files, problems }

  function visit(dir: string, { archived, depth }: { archived: boolean; depth: number }): void {
    let children: Dirent[]
    try {
      children = readdirSync(dir, { withFileTypes: true })
    } catch (error) {
      problems.push({ path: dir, message: error instanceof Error ? error.message : 'cannot be read' })
      return
    }
    for (const child of children) {
      const path = `${dir}${sep}${child.name}`
      if (child.isDirectory()) {
        if (depth < DEEPEST) visit(path, { archived, depth: depth + 1 })
        continue
      }
      const named = readName(child.name)
      const isTranscript = named !== undefined || /\.jsonl(?:\.zst)?$/u.test(child.name)
      if (child.isSymbolicLink() && !isTranscript)
        problems.push({ path, message: 'is a link, and links are not followed' })
      if (!isTranscript) continue
      if (!child.isFile())
        problems.push({ path, message: 'is not a regular file, and links are not followed' })
      else if (named === undefined) problems.push({ path, message: 'has a name that no rollout has' })
      else files.push({ path, archived, ...named })
    }
  }
}

/**
 * The folders in which Codex makes, appends to and moves files: where it keeps its locks, the archive, and every folder
 * of `sessions`. With `under`, only that folder and those below it. While one of them is not there yet, and for the
 * names that sessions are given, the home itself.
 */
export function findFolders(codexHome: string, under?: string): readonly string[] {
  const roots = [SESSIONS, ARCHIVED].flatMap((name) => realDir(join(codexHome, name)) ?? [])
  const locks = join(codexHome, LOCKS)
  if (under === locks) return leadsToDir(locks) ? [locks] : []
  const named = [SESSIONS, ARCHIVED].map((name) => join(codexHome, name))
  if (under !== undefined && under !== codexHome) {
    const root = named.includes(under) ? realDir(under) : under
    const isInside =
      root !== undefined && roots.some((each) => root === each || root.startsWith(`${each}${sep}`))
    return isInside && isDir(root) ? collect(root) : []
  }
  if (!leadsToDir(codexHome)) return []
  return [codexHome, ...(leadsToDir(locks) ? [locks] : []), ...roots.flatMap((root) => collect(root))]
}

/** The newest days first: that is where things happen. */
function collect(dir: string): readonly string[] {
  const children = entriesOf(dir).filter((child) => child.isDirectory())
  return [dir, ...children.toReversed().flatMap((child) => collect(`${dir}${sep}${child.name}`))]
}

/** Finds where a file stands in the layout, whether its folders are folders or links to some. */
export function createPlaceFinder(codexHome: string): (path: string) => string | undefined {
  return (path) => {
    if (normalize(path) !== path) return undefined
    for (const name of [SESSIONS, ARCHIVED]) {
      const named = join(codexHome, name)
      if (path.startsWith(`${named}${sep}`)) return `${name}${path.slice(named.length)}`
      const root = realDir(named)
      if (root !== undefined && path.startsWith(`${root}${sep}`)) return `${name}${path.slice(root.length)}`
    }
    return undefined
  }
}

/** A folder's time is as coarse as the clock of the file system: one that is this young may change without showing it. */
const YOUNG_MS = 2_000

/** The times of all folders that rollouts are in. Empty while one of them is too young to tell. */
export function stampOfFolders(codexHome: string, now: number): string {
  const parts: number[] = []
  let youngest = 0
  for (const name of [SESSIONS, ARCHIVED]) {
    const root = realDir(join(codexHome, name))
    for (const dir of root === undefined ? [] : collect(root)) {
      const stats = findLinkStats(dir)
      if (stats === undefined) continue
      youngest = Math.max(youngest, stats.mtimeMs)
      parts.push(stats.ino, stats.mtimeMs)
    }
  }
  if (parts.length === 0) return 'none'
  return now - youngest < YOUNG_MS ? '' : parts.join()
}

function leadsToDir(path: string): boolean {
  return findStats(path)?.isDirectory() ?? false
}

function isDir(dir: string): boolean {
  return findLinkStats(dir)?.isDirectory() ?? false
}

function entriesOf(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
}

/** The home and what lies in it directly may be links: people keep them among their dotfiles. */
function realDir(dir: string): string | undefined {
  try {
    return realpathSync(dir)
  } catch {
    return undefined
  }
}
