import { readFile, stat } from 'node:fs/promises'
import { parseJson } from '#base'
import {
  toDocumentsOfOthers,
  type DocumentsOfOthers,
  type ToldVersion,
  type VersionsElsewhere,
} from '#memory'
import { readVersion, type DocumentScope, type DocumentVersion, type SessionOrigin } from '#model'

/** What the team has here of documents: the files of other machines, as far as they may be read. */
export interface DocumentFiles {
  documentFiles(): readonly DocumentFile[]
  /** Called when a file is new, has grown or is gone. Returns how to stop it. */
  onChange(listener: () => void): () => void
  /** The folder here that is the same as one on another machine. Not there: a folder is what it is called. */
  workdirHere?(workdir: string, origin: string): string | undefined
}

export interface DocumentFile {
  readonly path: string
  readonly origin: SessionOrigin
  readonly scope: DocumentScope
}

/** Documents that were written on other machines: one's own, which count as if they were written here, and others'. */
export interface TeamDocuments {
  readonly mine: VersionsElsewhere
  readonly others: DocumentsOfOthers
  /** Called when any of them is another one. Returns how to stop it. */
  onChange(listener: () => void): () => void
  /** Resolves when everything that is here is read. */
  settled(): Promise<void>
  close(): void
}

/** More than anybody writes by hand. A file that is longer is read to here. */
const LONGEST = 64 * 1024 * 1024
const REMADE_MS = 15_000

/** Reads what there is, and again whenever it changes. What cannot be read is left out until it can. */
export async function openTeamDocuments(files: DocumentFiles, now: () => number): Promise<TeamDocuments> {
  const known = new Map<string, { readonly seen: string; readonly versions: readonly DocumentVersion[] }>()
  const listeners = new Set<() => void>()
  let told: readonly ToldVersion[] = []
  let revision = 0
  let madeAt = 0
  let others = toOthers()
  let queue: Promise<void> = Promise.resolve()

  function toOthers(): DocumentsOfOthers {
    madeAt = now()
    const workdirHere = files.workdirHere?.bind(files)
    return toDocumentsOfOthers(told, { now, workdirHere })
  }

  async function look(): Promise<void> {
    const there = files.documentFiles()
    const all: ToldVersion[] = []
    for (const { path, origin, scope } of there) {
      for (const version of await readVersions(path)) all.push({ version, origin, scope })
    }
    const paths = new Set(there.map(({ path }) => path))
    for (const path of known.keys()) if (!paths.has(path)) known.delete(path)
    const isSame =
      all.length === told.length &&
      all.every(({ version, origin, scope }, n) => {
        const before = told[n]
        return before?.version === version && before.scope === scope && before.origin.origin === origin.origin
      })
    if (isSame) return
    told = all
    revision++
    others = toOthers()
    for (const listener of listeners) listener()
  }

  async function readVersions(path: string): Promise<readonly DocumentVersion[]> {
    const stats = await stat(path).catch(() => undefined)
    if (stats === undefined) return []
    const seen = `${stats.size}:${stats.mtimeMs}:${stats.ino}`
    const before = known.get(path)
    if (before?.seen === seen) return before.versions
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    const versions = linesOf(bytes.subarray(0, LONGEST).toString('utf8')).flatMap(
      (line) => readVersion(parseJson(line)) ?? [],
    )
    known.set(path, { seen, versions })
    return versions
  }

  function lookSoon(): void {
    queue = queue.then(look).catch(() => undefined)
  }

  const stop = files.onChange(lookSoon)
  lookSoon()
  await queue
  return {
    mine: {
      versions: () =>
        told.flatMap(({ version, origin }) => (origin.mine ? { ...version, elsewhere: origin } : [])),
      revision: () => String(revision),
    },
    get others() {
      // Which folder is the same here may be known by now.
      if (files.workdirHere !== undefined && now() - madeAt > REMADE_MS) others = toOthers()
      return others
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    settled: () => queue,
    close() {
      stop()
      listeners.clear()
    },
  }
}

/** A line that stayed on its machine left a gap of zeros. */
function linesOf(text: string): readonly string[] {
  return text.split('\n').map((line) => line.replaceAll('\0', ''))
}
