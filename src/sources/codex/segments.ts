import { readdirSync, type Dirent } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { readName } from './layout.ts'
import { findStats } from '../folders.ts'

/** The id by which other files name a rollout: the last one in its name. */
export function idOf(path: string): string | undefined {
  const name = readName(basename(path))
  return name?.segment ?? name?.id
}

/** What was found for a file: the older files of a thread stay as they are. */
const known = new Map<string, readonly string[]>()
const REMEMBERED = 10_000

/** The files that a thread was in before this one, oldest first: none unless this one was begun after a revert. */
export function findOlder(path: string): readonly string[] {
  const { id, segment } = readName(basename(path)) ?? {}
  if (id === undefined || segment === undefined) return []
  const before = known.get(path)
  if (before?.every((each) => isThere(each)) === true) return before
  const root = rootOf(path)
  const folders =
    root === undefined
      ? [dirname(path)]
      : [join(root, 'archived_sessions'), ...foldersBelow(join(root, 'sessions'))]
  const found = new Map<string, string>()
  for (const folder of folders) {
    for (const child of entriesOf(folder)) {
      const other = child.isFile() ? readName(child.name) : undefined
      if (other?.id !== id || other.compressed) continue
      const order = other.segment ?? ''
      if (order < segment) found.set(order, join(folder, child.name))
    }
  }
  const older = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
  if (known.size >= REMEMBERED) known.clear()
  known.set(path, older)
  return older
}

/** Looks for the files of a thread anew the next time: one that is named was not there. */
export function forgetOlder(path: string): void {
  known.delete(path)
}

function isThere(path: string): boolean {
  return findStats(path)?.isFile() ?? false
}

function foldersBelow(dir: string): readonly string[] {
  return [
    dir,
    ...entriesOf(dir).flatMap((child) => (child.isDirectory() ? foldersBelow(join(dir, child.name)) : [])),
  ]
}

/** The folder that `sessions` and `archived_sessions` are in. */
export function rootOf(path: string): string | undefined {
  for (const name of ['sessions', 'archived_sessions']) {
    const at = path.lastIndexOf(`${sep}${name}${sep}`)
    if (at >= 0) return path.slice(0, at)
  }
  return undefined
}

export function search(root: string, id: string): string | undefined {
  return findFile(join(root, 'archived_sessions'), id) ?? findBelow(join(root, 'sessions'), id)
}

function findBelow(dir: string, id: string): string | undefined {
  const found = findFile(dir, id)
  if (found !== undefined) return found
  for (const child of entriesOf(dir).toReversed()) {
    const below = child.isDirectory() ? findBelow(join(dir, child.name), id) : undefined
    if (below !== undefined) return below
  }
  return undefined
}

export function findFile(dir: string, id: string): string | undefined {
  const file = entriesOf(dir).find(
    (child) =>
      child.isFile() &&
      child.name.startsWith('rollout-') &&
      (child.name.endsWith(`-${id}.jsonl`) || child.name.endsWith(`_${id}.jsonl`)),
  )
  return file === undefined ? undefined : join(dir, file.name)
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
}
