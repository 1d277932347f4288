import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { boolean, isObject, number, parseJson, string } from '#base'
import { replaceNow } from './transcribed-files.ts'

/** What is known of a transcription: of which state of the original it is, and what no line of it says. */
export interface Mark {
  readonly stamp: string
  /** How long the transcription is. */
  readonly size: number
  /** Where it stands below the folder of transcriptions. */
  readonly place: string
  readonly title?: string | undefined
  readonly archived?: boolean | undefined
  /** Why it could not be transcribed. */
  readonly problem?: string | undefined
}

/** The marks of all transcriptions in a folder: read once, written one by one. */
export interface Marks {
  get(id: string): Mark | undefined
  ids(): Iterable<string>
  set(id: string, mark: Mark): void
  delete(id: string): void
}

/** Another number says that what was made by older versions is made again. */
const VERSION = 1

/** Reads the marks that are in a folder. What cannot be read is not there: the transcription is made again. */
export function createMarks(dir: string): Marks {
  const marks = new Map<string, Mark>()
  for (const name of namesIn(dir)) {
    const mark = name.endsWith('.json') ? readMark(join(dir, name)) : undefined
    if (mark !== undefined) marks.set(name.slice(0, -'.json'.length), mark)
  }
  return {
    get: (id) => marks.get(id),
    ids: () => marks.keys(),
    set(id, mark) {
      marks.set(id, mark)
      // A mark that cannot be written makes the next process look again.
      ignoringErrors(() => replaceNow(join(dir, `${id}.json`), JSON.stringify({ version: VERSION, ...mark })))
    },
    delete(id) {
      marks.delete(id)
      ignoringErrors(() => rmSync(join(dir, `${id}.json`), { force: true }))
    },
  }
}

function ignoringErrors(work: () => void): void {
  try {
    work()
  } catch {
    // A disk that is full or takes no change keeps nobody from reading.
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

function readMark(path: string): Mark | undefined {
  let read: unknown
  try {
    read = parseJson(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
  const stamp = string(read, 'stamp')
  const size = number(read, 'size')
  const place = string(read, 'place')
  if (!isObject(read) || read['version'] !== VERSION) return undefined
  if (stamp === undefined || size === undefined || place === undefined) return undefined
  const title = string(read, 'title')
  const archived = boolean(read, 'archived')
  const problem = string(read, 'problem')
  return { stamp, size, place, title, archived, problem }
}
