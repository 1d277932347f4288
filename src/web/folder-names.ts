import { signal } from '@preact/signals'
import type { SessionSummary } from '#model'

/** Folders whose last part alone would not tell them from others, with what does. */
const longer = signal<ReadonlyMap<string, string>>(new Map())
let seen = ''

/** From now on folders are named so that these sessions' folders are told apart. */
export function nameFolders(sessions: readonly SessionSummary[]): void {
  const folders = [...new Set(sessions.flatMap(({ workdirs }) => workdirs))].toSorted()
  const now = folders.join('\n')
  if (now === seen) return
  seen = now
  longer.value = toLongerNames(folders)
}

/** What people call a project: the last part of its path, and as many before it as tell it from every other one. */
export function toFolderName(workdir: string): string {
  return longer.value.get(workdir) ?? toLastParts(workdir, 1)
}

/** Of folders that share their last part, or have no letter in it, the shortest end of the path that only they have. */
export function toLongerNames(folders: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  let left = [...new Set(folders)].filter((folder) => folder !== '')
  for (let count = 1; left.length > 0; count++) {
    const byName = new Map<string, string[]>()
    for (const folder of left) {
      const name = toLastParts(folder, count)
      byName.set(name, [...(byName.get(name) ?? []), folder])
    }
    left = [...byName].flatMap(([name, same]) => {
      const isWhole = same.every((folder) => toParts(folder).length <= count)
      if (!isWhole && (same.length > 1 || !/\p{L}/u.test(name))) return same
      if (count > 1) for (const folder of same) names.set(folder, isWhole ? folder : name)
      return []
    })
  }
  return names
}

function toParts(folder: string): readonly string[] {
  return folder.split(/[/\\]/).filter((part) => part !== '')
}

function toLastParts(folder: string, count: number): string {
  const parts = toParts(folder)
  if (parts.length === 0) return folder === '' ? 'No folder' : folder
  return parts.slice(-count).join('/')
}
