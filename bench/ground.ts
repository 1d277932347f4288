import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import type { CorpusFacts, CorpusSession } from '#testing'

/** Where daemons and peers of one run live: folders of their own, and a copy of the corpus that costs no bytes. */
export interface Ground {
  /** The corpus, hard-linked. Nothing in it may be written to, except the session `live`. */
  readonly configDir: string
  /** A session of about 150 KB. */
  readonly small: CorpusSession
  /** Another one, copied: lines may be appended to it. */
  readonly live: LiveSession
  /** A new folder of this name. */
  folder(name: string): string
  /** A home whose index is complete and whose daemon was stopped cleanly, once somebody made it. */
  settledHome: string | undefined
  remove(): void
}

export interface LiveSession {
  readonly id: string
  /** Absolute. */
  readonly path: string
}

const SMALL = 150e3
/** A page is 50 entries, and some lines are no entries. */
const SMALL_LINES = 70

/** How far a session is from one of the wanted size that fills a page. */
function apart({ bytes, lines }: CorpusSession): number {
  return Math.abs(bytes - SMALL) + (lines < SMALL_LINES ? SMALL : 0)
}

/** `root` must be on the file system of the corpus. */
export function createGround(root: string, corpusDir: string, { sessions }: CorpusFacts): Ground {
  mkdirSync(root, { recursive: true })
  const dir = mkdtempSync(join(root, 'run-'))
  let made = 0
  const remove = (): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  process.on('exit', remove)
  const configDir = join(dir, 'claude')
  linkTree(corpusDir, configDir)
  const [small, other] = sessions
    .filter((session) => session.forkOf === undefined && session.compactions === 0)
    .toSorted((a, b) => apart(a) - apart(b))
  if (small === undefined || other === undefined) throw new RangeError('the corpus has too few sessions')
  const live = { id: other.id, path: join(configDir, other.path) }
  separate(live.path, join(corpusDir, other.path))
  return {
    configDir,
    small,
    live,
    settledHome: undefined,
    folder(name) {
      const path = join(dir, `${name}-${++made}`)
      mkdirSync(path, { mode: 0o700 })
      return path
    },
    remove() {
      process.off('exit', remove)
      remove()
    },
  }
}

/** The same tree with the same files, linked. */
export function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkTree(source, target)
    else if (entry.isFile()) linkSync(source, target)
  }
}

/** Makes a file of a link. */
function separate(path: string, original: string): void {
  const { atime, mtime } = statSync(original)
  unlinkSync(path)
  copyFileSync(original, path)
  utimesSync(path, atime, mtime)
}
