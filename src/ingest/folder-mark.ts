import { lstatSync, statSync, type Stats } from 'node:fs'

/** What tells whether a folder is still the same one, and whether names in it came or went. */
export interface FolderMark {
  /** The time of birth is part of it: file systems give the number of a deleted folder to the next one. */
  readonly identity: string
  readonly modifiedMs: number
}

export function findMark(dir: string): FolderMark | undefined {
  const stats = findStatsOf(dir)
  if (stats === undefined || !stats.isDirectory()) return undefined
  return { identity: `${stats.dev}:${stats.ino}:${stats.birthtimeMs}`, modifiedMs: stats.mtimeMs }
}

/** What the system says of a path of an agent. Nothing when nothing is there, and when nobody may look. */
export function findStatsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether a folder, not a link to one, has this path. */
export function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false
  }
}
