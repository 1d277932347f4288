import { lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from 'node:fs'

/** What is in a folder that may not be there. */
export function entriesOf(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
}

/** The folder with all links on the way to it resolved, if it is there. */
export function realDir(dir: string): string | undefined {
  try {
    return realpathSync(dir)
  } catch {
    return undefined
  }
}

/** What the system says of a path. Nothing when nothing is there, and when nobody may look. */
export function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** The same of a link itself. */
export function findLinkStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether a folder, not a link to one, has this path. */
export function isDir(dir: string): boolean {
  return findLinkStats(dir)?.isDirectory() ?? false
}

/** A folder's time is as coarse as the clock of the file system: one that is this young may change without showing it. */
const YOUNG_MS = 2_000

/** The times of folders. Empty while one of them is too young to tell. */
export function stampOfDirs(dirs: readonly string[], now: number): string {
  const parts: number[] = []
  let youngest = 0
  for (const dir of dirs) {
    const stats = findLinkStats(dir)
    if (stats === undefined) continue
    youngest = Math.max(youngest, stats.mtimeMs)
    parts.push(stats.ino, stats.mtimeMs)
  }
  return now - youngest < YOUNG_MS ? '' : parts.join()
}
