import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { list, parseJson, string } from '#base'
import { realPathOf } from './config.ts'

/** The folders that have recordings in them: beside the work, wherever that is. */
export interface RecordedFolders {
  /** Those that were found when somebody looked last, by their real paths. */
  all(): readonly string[]
  /**
   * Looks where recorders noted to be at work, where the settings say, and where these sessions worked, or the
   * repository of it is. Whether there are others than before.
   */
  look(workdirs: Iterable<string>): boolean
  /** The folder itself, where a recorder or the settings name it; of one in the archive, the folder it was in. */
  findNoted(folder: string): string | undefined
}

/** Where recorders note the folders in which they record. */
export function registerPath(home: string): string {
  return join(home, 'recordings.jsonl')
}

/** How far up a repository is looked for. */
const LEVELS = 32

export function createRecordedFolders(home: string): RecordedFolders {
  const archive = join(home, 'archive', 'entire')
  let found: readonly string[] = []
  return {
    all: () => found,
    look(workdirs) {
      const named = [...readRegister(home), ...readSettings(home)]
      const all = new Set<string>()
      for (const folder of named) if (hasEntire(folder)) all.add(realPathOf(folder))
      const known = new Map<string, string | undefined>()
      for (const workdir of new Set(workdirs)) {
        const folder = isAbsolute(workdir) ? findAround(workdir, known) : undefined
        if (folder !== undefined) all.add(realPathOf(folder))
      }
      const isSame = all.size === found.length && found.every((folder) => all.has(folder))
      if (!isSame) found = [...all]
      return !isSame
    },
    findNoted(folder) {
      const original = folder.startsWith(`${archive}${sep}`) ? folder.slice(archive.length) : folder
      const named = [...readRegister(home), ...readSettings(home)]
      return named.some((each) => realPathOf(each) === original) ? original : undefined
    },
  }
}

/**
 * Entire writes at the top of a repository, wherever in it an agent works. Folders have their parents in common, so
 * what is known of one is asked once.
 */
function findAround(
  folder: string,
  known: Map<string, string | undefined>,
  level: number = LEVELS,
): string | undefined {
  if (known.has(folder)) return known.get(folder)
  const parent = dirname(folder)
  const isTop = parent === folder || level === 0
  // Of what is inside a repository, nothing above it.
  const above = isTop || existsSync(`${folder}${sep}.git`) ? undefined : findAround(parent, known, level - 1)
  const found = hasEntire(folder) ? folder : above
  known.set(folder, found)
  return found
}

/** What somebody else has put there, in a folder that everybody may write to, is not for us to show. */
function hasEntire(folder: string): boolean {
  try {
    const stats = lstatSync(`${folder}${sep}.entire`, { throwIfNoEntry: false })
    const isOurs = process.getuid === undefined || stats?.uid === process.getuid()
    return stats?.isDirectory() === true && isOurs
  } catch {
    return false
  }
}

function readRegister(home: string): readonly string[] {
  const lines = readText(registerPath(home)).split('\n')
  return lines.flatMap((line) => toFolder(string(parseJson(line), 'cwd')))
}

/** `recordedIn` of `config.json`. What is wrong with that file is told where all of it is read. */
function readSettings(home: string): readonly string[] {
  const folders = list(parseJson(readText(join(home, 'config.json'))), 'recordedIn')
  return folders.flatMap((folder) => toFolder(typeof folder === 'string' ? folder : undefined))
}

function toFolder(folder: string | undefined): readonly string[] {
  return folder !== undefined && isAbsolute(folder) ? [folder] : []
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
