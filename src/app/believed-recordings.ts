import { readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { SessionSummary } from '#model'
import type { RecordedFolders } from './recorded-folders.ts'

/**
 * Whether new sessions may be told what was said in this one, and whether what it asks to be remembered is. Of what
 * lies in a folder of somebody's work only that counts which a recorder of this machine wrote there, or which the
 * person has named: a repository can come with recordings of conversations that nobody ever had.
 */
export function isBelieved({ id, path, recorded }: SessionSummary, folders: RecordedFolders): boolean {
  if (recorded === undefined) return true
  const folder = folders.findNoted(join(path, '..', '..', '..', '..'))
  return folder !== undefined && !isCommitted(join(folder, '.entire', 'metadata', id))
}

/** Whether the repository around a folder has something in it under version control. */
function isCommitted(folder: string): boolean {
  for (let at = dirname(folder); ; at = dirname(at)) {
    const index = findIndex(at)
    if (index !== undefined) {
      const place = relative(at, folder).split(sep).join('/')
      // The newest form writes only what differs from the name before.
      const isWhole = index.readUInt32BE(VERSION_AT) < 4
      return index.includes(isWhole ? `${place}/` : 'full.jsonl')
    }
    if (at === dirname(at)) return false
  }
}

const VERSION_AT = 4
const HEADER = 12

function findIndex(folder: string): Buffer | undefined {
  const git = join(folder, '.git')
  try {
    const isFolder = statSync(git, { throwIfNoEntry: false })?.isDirectory()
    if (isFolder === undefined) return undefined
    const link = isFolder ? '.' : (/^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1] ?? '.')
    const index = readFileSync(join(isFolder ? git : resolve(folder, link), 'index'))
    return index.length < HEADER ? undefined : index
  } catch {
    return undefined
  }
}
