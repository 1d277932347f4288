import { rmSync } from 'node:fs'
import { setFiller, type FileRange } from '#sources'
import type { NumberedLine, StoredFile, TeamLog } from '#store'
import { fetchRange, LONGEST_FILE, putLine } from './mirror-fetch.ts'
import { createMirrorFile, type MirrorFile, type MirroredFile } from './mirror-file.ts'
import type { MirrorFolder } from './mirror-folder.ts'
import { bytesIn, covers } from './mirror-ranges.ts'

/** The files of other machines that are here, each as far as it is. */
export interface MirrorCopies {
  all(): readonly MirroredFile[]
  find(path: string): MirroredFile | undefined
  byNumber(number: number): MirroredFile | undefined
  /** By where it is on its machine. */
  findHere(origin: string, path: string): string | undefined
  ownerOf(folder: string): string | undefined
  /** Makes what is here of a file as long as it is there, or begins it. */
  bring(here: string, stored: StoredFile): Promise<void>
  /** Takes in a line of a file that is here. */
  take(line: NumberedLine): Promise<void>
  ensure(range: FileRange): Promise<void>
  /** All of a file. */
  whole(path: string): FileRange | undefined
  remove(number: number): void
  status(): { readonly files: number; readonly bytes: number; readonly fetched: number }
  close(): Promise<void>
}

export interface MirrorCopiesOptions {
  readonly folder: MirrorFolder
  /** The log, while it is open. */
  readonly log: () => TeamLog | undefined
  readonly glance: (look: Glanced) => void
  readonly onChange: (change: MirrorChange) => void
  readonly onTrouble: (error: unknown) => void
}

/** A transcript, and the folder in which it has its place. */
export interface Glanced {
  readonly path: string
  readonly root: string
}

export type MirrorChange =
  | { readonly kind: 'changed'; readonly file: MirroredFile }
  | { readonly kind: 'removed'; readonly file: MirroredFile }

/** What a glance mostly needs of a transcript. */
const HEAD = 32 * 1024
const TAIL = 48 * 1024
/** A shorter file is fetched whole. */
const SMALL = 128 * 1024
/** What is fetched with what was asked for: a cursor is compared with what stands before it. */
const BEFORE = 4096
const AT_LEAST = 64 * 1024
const MOST_GLANCES = 64
const SAVE_MS = 1000

export function openMirrorCopies(options: MirrorCopiesOptions): MirrorCopies {
  const { folder } = options
  const files = new Map<string, MirrorFile>()
  const numbers = new Map<number, MirrorFile>()
  const originals = new Map<string, MirrorFile>()
  const owners = new Map<string, string>()
  const dirty = new Set<MirrorFile>()
  /** One thing after another with every file. */
  const turns = new Map<string, Promise<unknown>>()
  let misses: FileRange[] | undefined
  let fetched = 0
  let saving: NodeJS.Timeout | undefined
  let closed = false

  for (const file of folder.read()) remember(file)
  const unset = setFiller(folder.root, {
    has: isHere,
    ensure: ensureRange,
    miss(range) {
      if (misses === undefined) void mend(range)
      else misses.push(range)
    },
  })

  function remember(file: MirrorFile): void {
    files.set(file.stored.here, file)
    numbers.set(file.stored.number, file)
    originals.set(keyOf(file.stored), file)
    owners.set(folder.rootOf(file.stored.here), file.stored.owner)
  }

  function isHere({ path, identity, from, to }: FileRange): boolean {
    const file = files.get(path)
    return file !== undefined && file.identity === identity && covers(file.ranges, { from, to })
  }

  function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const next = (turns.get(path) ?? Promise.resolve()).then(work, work)
    const over = next.catch(() => undefined)
    turns.set(path, over)
    void over.then(() => turns.get(path) === over && turns.delete(path))
    return next
  }

  async function bring(here: string, stored: StoredFile): Promise<void> {
    const known = files.get(here)
    if (known === undefined || known.stored.number < stored.number) return await begin(here, stored)
    if (known.stored.number > stored.number) return
    const isLonger = stored.size > known.size
    if (!isLonger && isSaid(known.stored, stored)) return
    known.describe(stored)
    touch(known)
    if (isLonger) await grow(known, stored.size)
    changed(known)
  }

  async function begin(here: string, stored: StoredFile): Promise<void> {
    const file = createMirrorFile(stored, folder.comingPath(stored))
    const isWhole = stored.kind !== 'transcript' || stored.size <= SMALL
    await fetchInto(file, 0, isWhole ? stored.size : HEAD)
    if (!isWhole) await grow(file, stored.size)
    // Not whole: the database went away. It is begun again when it is back.
    if (file.size < stored.size || closed) return
    files.set(file.stored.here, file)
    try {
      await glanceAt(file)
    } finally {
      files.delete(file.stored.here)
    }
    if (closed) return
    const former = files.get(here)
    if (former !== undefined) forget(former)
    folder.mark(stored)
    file.moveTo(here)
    remember(file)
    await glanceAt(file)
    touch(file)
    changed(file)
  }

  /** The file is longer: what is behind what was known of it, or at least its end. */
  async function grow(file: MirrorFile, size: number): Promise<void> {
    await fetchInto(file, size - file.size <= SMALL ? file.size : size - TAIL, size)
  }

  async function fetchInto(file: MirrorFile, from: number, to: number): Promise<void> {
    const log = options.log()
    if (log === undefined) return
    fetched += await fetchRange(log, file, { from, to })
    touch(file)
  }

  /** A list looks at files without waiting for anything: what it needs is here before it is told of them. */
  async function glanceAt(file: MirrorFile): Promise<void> {
    if (file.stored.kind !== 'transcript') return
    for (let times = 0; times < MOST_GLANCES; times++) {
      if (closed) return
      const missing: FileRange[] = []
      misses = missing
      try {
        options.glance({ path: file.stored.here, root: folder.rootOf(file.stored.here) })
      } finally {
        misses = undefined
      }
      if (missing.length === 0) return
      for (const { path, from, to } of missing) {
        const other = files.get(path)
        const end = Math.min(Math.max(to, from + AT_LEAST), other?.size ?? 0)
        if (other !== undefined) await fetchInto(other, from, end)
      }
    }
  }

  async function take(line: NumberedLine): Promise<void> {
    const file = numbers.get(line.file)
    const log = options.log()
    const end = line.offset + line.length
    if (file === undefined || log === undefined || end > LONGEST_FILE) return
    // Something before it is not here: it was held back, or missed.
    if (line.offset > file.size) await grow(file, end)
    else fetched += await putLine(log, file, line)
    touch(file)
    changed(file)
  }

  function forget(file: MirrorFile): void {
    files.delete(file.stored.here)
    numbers.delete(file.stored.number)
    if (originals.get(keyOf(file.stored)) === file) originals.delete(keyOf(file.stored))
    dirty.delete(file)
    folder.forget(file.stored)
  }

  function changed(file: MirrorFile): void {
    const isKnown = files.get(file.stored.here) === file
    if (isKnown && !closed) options.onChange({ kind: 'changed', file: file.stored })
  }

  async function ensureRange(range: FileRange): Promise<void> {
    if (isHere(range)) return
    await inTurn(range.path, async () => {
      const file = files.get(range.path)
      if (isHere(range) || file?.identity !== range.identity) return
      const to = Math.min(Math.max(range.to, range.from + AT_LEAST), file.size)
      await fetchInto(file, Math.max(0, range.from - BEFORE), to)
    }).catch(options.onTrouble)
    if (!isHere(range)) throw folder.unreached(range.path)
  }

  /** Somebody who does not wait looked at what is not here: he is told when it is. */
  async function mend(range: FileRange): Promise<void> {
    const isMended = await ensureRange(range).then(
      () => true,
      () => false,
    )
    const file = files.get(range.path)
    if (isMended && file !== undefined) changed(file)
  }

  function touch(file: MirrorFile): void {
    if (numbers.get(file.stored.number) !== file || closed) return
    dirty.add(file)
    saving ??= setTimeout(() => void save(), SAVE_MS).unref()
  }

  async function save(): Promise<void> {
    clearTimeout(saving)
    saving = undefined
    for (const file of dirty) {
      dirty.delete(file)
      // What is not written down is fetched again.
      await folder.save(file).catch(options.onTrouble)
      // Removed meanwhile.
      if (numbers.get(file.stored.number) !== file) folder.forget(file.stored)
    }
  }

  return {
    all: () => [...numbers.values()].map(({ stored }) => stored),
    find: (path) => files.get(path)?.stored,
    byNumber: (number) => numbers.get(number)?.stored,
    ownerOf: (dir) => owners.get(dir),
    findHere: (origin, path) => originals.get(keyOf({ origin, path }))?.stored.here,
    bring: (here, stored) => inTurn(here, () => bring(here, stored)),
    async take(line) {
      const here = numbers.get(line.file)?.stored.here
      if (here !== undefined) await inTurn(here, () => take(line))
    },
    ensure: ensureRange,
    whole(path) {
      const file = files.get(path)
      return file && { path, identity: file.identity, from: 0, to: file.size }
    },
    remove(number) {
      const file = numbers.get(number)
      if (file === undefined) return
      const { stored } = file
      forget(file)
      folder.remove(stored)
      options.onChange({ kind: 'removed', file: stored })
    },
    status: () => ({
      files: numbers.size,
      bytes: [...numbers.values()].reduce((sum, { ranges }) => sum + bytesIn(ranges), 0),
      fetched,
    }),
    async close() {
      closed = true
      unset()
      await Promise.all(turns.values())
      await save()
      rmSync(folder.coming, { recursive: true, force: true })
    },
  }
}

function keyOf({ origin, path }: Pick<StoredFile, 'origin' | 'path'>): string {
  return `${origin}\0${path}`
}

/** Whether nothing is said of a file that was not known. */
function isSaid(known: MirroredFile, stored: StoredFile): boolean {
  return SAID.every((key) => known[key] === stored[key])
}

const SAID = ['machine', 'owner', 'path', 'agent', 'session', 'workdir', 'remote', 'scope'] as const
