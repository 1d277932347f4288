import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync, type Dirent } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { ThroughlineError } from '#base'
import { MIRROR_MARK, MIRROR_SUFFIX } from '#sources'
import type { StoredFile } from '#store'
import { readMirrorFile, type MirrorFile, type MirroredFile } from './mirror-file.ts'

/**
 * Where files of other machines are: `<dir>/<origin>.mirror/<place>`, and beside them in `state` what is here of each.
 * What a machine says of its places is somebody else's word: nothing leads out of its folder.
 */
export interface MirrorFolder {
  readonly root: string
  /** Where files are that nobody is to see yet. */
  readonly coming: string
  /** Where a file belongs; nothing for one that has no place here. */
  pathOf(stored: StoredFile): string | undefined
  comingPath(stored: StoredFile): string
  /** The folder below which a file has its place. */
  rootOf(path: string): string
  /** Says of a machine's folder that there are holes in what it holds. */
  mark(stored: StoredFile): void
  /** What the last process left. What it left half done is removed. */
  read(): readonly MirrorFile[]
  save(file: MirrorFile): Promise<void>
  /** What is known of it is of no use to anybody; its bytes stay. */
  forget(stored: MirroredFile): void
  remove(stored: MirroredFile): void
  unreached(path: string): ThroughlineError
}

const STATE = 'state'
const COMING = 'coming.mirror'
/** What can stand in a path on every system, and leads nowhere. */
const PART = /^(?!\.{1,2}$)[^\p{Cc}/\\:*?"<>|]{1,255}$/u
const MOST_PARTS = 40

export function openMirrorFolder(dir: string, isPlace: (place: string) => boolean): MirrorFolder {
  const coming = join(dir, COMING)
  mkdirSync(dir, { recursive: true, mode: 0o700 })

  const folderOf = ({ origin }: StoredFile): string => join(dir, `${toName(origin)}${MIRROR_SUFFIX}`)
  const stateOf = (stored: StoredFile): string => join(folderOf(stored), STATE, `${stored.number}.json`)

  function findPlace(stored: StoredFile): string | undefined {
    if (stored.kind === 'document' || stored.kind === 'name')
      return join(stored.kind, `${stored.number}.jsonl`)
    const { place } = stored
    const parts = place?.split('/') ?? []
    if (place === undefined || parts.length > MOST_PARTS || !parts.every((part) => PART.test(part)))
      return undefined
    return isPlace(place) && !RESERVED.has(parts[0] ?? '') ? parts.join(sep) : undefined
  }

  return {
    root: dir,
    coming,
    pathOf(stored) {
      const place = findPlace(stored)
      return place === undefined ? undefined : join(folderOf(stored), place)
    },
    comingPath: (stored) => join(coming, String(stored.number), findPlace(stored) ?? 'file'),
    rootOf(path) {
      const [machine = '', next = ''] = path.slice(dir.length + 1).split(sep)
      return machine === COMING ? join(dir, machine, next) : join(dir, machine)
    },
    mark: (stored) => markFolder(folderOf(stored)),
    read() {
      rmSync(coming, { recursive: true, force: true })
      const found: MirrorFile[] = []
      for (const { name } of entriesOf(dir).filter((entry) => entry.isDirectory())) {
        if (!name.endsWith(MIRROR_SUFFIX)) continue
        const states = join(dir, name, STATE)
        const known = new Set<string>()
        for (const { name: state } of entriesOf(states)) {
          const file = readMirrorFile(join(states, state))
          const isKnown = file?.stored.here.startsWith(`${join(dir, name)}${sep}`) === true
          if (file === undefined || !isKnown || known.has(file.stored.here)) {
            rmSync(join(states, state), { force: true })
            continue
          }
          known.add(file.stored.here)
          found.push(file)
        }
        removeOthers(join(dir, name), known)
      }
      return found
    },
    async save(file) {
      const path = stateOf(file.stored)
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      await file.save(path)
    },
    forget: (stored) => rmSync(stateOf(stored), { force: true }),
    remove(stored) {
      rmSync(stored.here, { force: true })
      rmSync(stateOf(stored), { force: true })
      removeEmpty(dirname(stored.here), folderOf(stored))
      const rest = entriesOf(folderOf(stored)).filter(({ name }) => name !== STATE && name !== MIRROR_MARK)
      if (rest.length === 0) rmSync(folderOf(stored), { recursive: true, force: true })
    },
    unreached: (path) =>
      new ThroughlineError('team-unreached', `${path} is on another machine, and not all of it is here`, {
        hint: 'Try again when `throughline team status` says that the database answers.',
      }),
  }
}

const RESERVED: ReadonlySet<string> = new Set([STATE, MIRROR_MARK, 'document', 'name'])

/** Whoever has no filler knows by it that there are holes. */
function markFolder(folder: string): void {
  const path = join(folder, MIRROR_MARK)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!existsSync(path)) writeFileSync(path, '{}\n', { mode: 0o600 })
}

/** A name that can stand in a path, and is another one for another origin. */
function toName(origin: string): string {
  if (/^[a-z0-9_-]{1,64}$/u.test(origin)) return origin
  const hash = createHash('sha256').update(origin).digest('hex').slice(0, 16)
  return `${origin.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, 40)}-${hash}`
}

/** Files of which nothing is known are of a process that died before it could say anything. */
function removeOthers(folder: string, known: ReadonlySet<string>): void {
  const visit = (dir: string): void => {
    for (const entry of entriesOf(dir)) {
      const path = join(dir, entry.name)
      if (path === join(folder, STATE) || path === join(folder, MIRROR_MARK) || known.has(path)) continue
      if (!entry.isDirectory()) rmSync(path, { force: true })
      else {
        visit(path)
        removeEmpty(path, folder)
      }
    }
  }
  visit(folder)
}

function removeEmpty(from: string, root: string): void {
  for (let dir = from; dir.startsWith(`${root}${sep}`); dir = dirname(dir)) {
    try {
      rmdirSync(dir)
    } catch {
      return
    }
  }
}

function entriesOf(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
}
