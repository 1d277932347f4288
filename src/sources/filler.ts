import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { ThroughlineError } from '#base'

/** Some bytes of a file that may be here only in part. */
export interface FileRange {
  readonly path: string
  /** Of the file that was opened: another one may have taken its name since. */
  readonly identity: string
  readonly from: number
  readonly to: number
}

/** Knows which bytes of the files in a folder are here, and fetches the others. */
export interface Filler {
  has(range: FileRange): boolean
  /** Resolves when the bytes are here. Rejects with `team-unreached` when they cannot be had. */
  ensure(range: FileRange): Promise<void>
  /** Somebody wanted to read them at once, and could not. */
  miss(range: FileRange): void
}

/** How the name of a folder ends that holds what is on another machine, and what lies in it. */
export const MIRROR_SUFFIX = '.mirror'
export const MIRROR_MARK = 'mirror.json'

const fillers = new Map<string, Filler>()

/** From now on the files below `root` are read through this filler. Returns how to end that. */
export function setFiller(root: string, filler: Filler): () => void {
  const key = root.endsWith(sep) ? root : `${root}${sep}`
  fillers.set(key, filler)
  return () => {
    if (fillers.get(key) === filler) fillers.delete(key)
  }
}

/** Who fills a file. Nobody for one that is all here, as nearly every file is. */
export function findFiller(path: string): Filler | undefined {
  for (const [root, filler] of fillers) if (path.startsWith(root)) return filler
  const at = path.indexOf(`${MIRROR_SUFFIX}${sep}`)
  if (at < 0) return undefined
  const folder = path.slice(0, at + MIRROR_SUFFIX.length)
  return existsSync(join(folder, MIRROR_MARK)) ? NOBODY : undefined
}

/** Nobody in this process knows what is here and what is a hole. */
const NOBODY: Filler = {
  has: () => false,
  ensure: ({ path }) => Promise.reject(unreached(path)),
  miss: () => undefined,
}

export function unreached(path: string): ThroughlineError {
  return new ThroughlineError('team-unreached', `${path} is on another machine, and not all of it is here`, {
    hint: 'Ask the daemon, or try again when `throughline team status` says that the database answers.',
  })
}
