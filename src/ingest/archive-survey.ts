import { rmdirSync, unlinkSync, type Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { SessionFiles, Source } from '#sources'
import type { ArchiveState } from '#wire'
import { findStats, identityOf, mayBeThere } from './archive-file.ts'

/** An agent's own files, and the source that lists what is kept of them. */
export interface KeptSource {
  readonly source: Source
  readonly kept: Source
}

/** A session that is only in the archive. */
export interface LostSession {
  readonly agent: string
  /** Where it is kept. */
  readonly files: SessionFiles
}

export interface PruneOptions {
  /** Sessions whose last activity is longer ago than this go. */
  readonly olderThanMs?: number
  /** The oldest go until no more than this is left. */
  readonly keepBytes?: number
  /** Says what would go, and removes nothing. */
  readonly dryRun?: boolean
  /** Removes none but these: what a person agreed to. */
  readonly only?: ReadonlySet<string>
}

export interface Pruned {
  /** Every one of them is the last copy there is. */
  readonly removed: readonly PrunedFile[]
  /** How many sessions are lost with them. */
  readonly sessions: number
  /** What that gives back to the disk. */
  readonly bytes: number
  /** What is left of files without an original. */
  readonly bytesLeft: number
}

export interface PrunedFile {
  readonly path: string
  readonly bytes: number
  /** When its session was last active; of a file that belongs to none, when it was written. */
  readonly lastActivityAt: string
}

/** Files looked at before other work gets its turn. */
const BREATH = 128

interface KeptFile {
  readonly path: string
  readonly stats: Stats
  /** Where the original would be; a version that was set aside has none. */
  readonly original: string | undefined
  /** Whether nobody but the archive has these bytes under this name. */
  readonly isGone: boolean
}

export async function readState(pairs: readonly KeptSource[]): Promise<Omit<ArchiveState, 'enabled'>> {
  const files = await survey(pairs)
  const lost = await findLost(pairs, new Set())
  const gone = files.filter(({ isGone }) => isGone)
  const ids = new Set(lost.map(({ agent, files: { id } }) => `${agent}:${id}`))
  return { files: files.length, bytes: bytesOf(gone), goneSessions: ids.size }
}

/** Sessions that are kept and whose transcript is not where it was. Of several with one id the longest counts. */
export async function findLost(
  pairs: readonly KeptSource[],
  liveIds: ReadonlySet<string>,
): Promise<readonly LostSession[]> {
  const lost: LostSession[] = []
  for (const { source, kept } of pairs) {
    const longest = new Map<string, { readonly size: number; readonly files: SessionFiles }>()
    const present = new Set(liveIds)
    for (const [index, files] of (await kept.find()).sessions.entries()) {
      if (index % BREATH === BREATH - 1) await setImmediate()
      const place = kept.findPlace(files.path)
      const stats = findStats(files.path)
      if (place === undefined || stats === undefined) continue
      if (findStats(`${source.root}${sep}${place}`) !== undefined) present.add(files.id)
      else if (stats.size >= (longest.get(files.id)?.size ?? 0))
        longest.set(files.id, { size: stats.size, files })
    }
    for (const [id, { files }] of longest) if (!present.has(id)) lost.push({ agent: source.agent, files })
  }
  return lost
}

/** Removes what is gone, the oldest sessions first, each with all that lies beside it. */
export async function prune(
  pairs: readonly KeptSource[],
  limits: PruneOptions,
  now: () => number,
): Promise<Pruned> {
  const { units, transcripts } = await findUnits(pairs)
  const all = units.flatMap(({ files }) => files)
  /** A file with two names in the archive is gone with the second. */
  const names = countNames(all)
  const total = bytesOf(all)
  let bytes = 0
  let sessions = 0
  const removed: PrunedFile[] = []
  for (const { files, lastActiveMs } of units) {
    const isOld = limits.olderThanMs !== undefined && now() - lastActiveMs > limits.olderThanMs
    const isTooMuch = limits.keepBytes !== undefined && total - bytes > limits.keepBytes
    if (!isOld && !isTooMuch) continue
    for (const file of files) {
      if (limits.only?.has(file.path) === false) continue
      if (limits.dryRun !== true && !remove(file, pairs)) continue
      const { size } = file.stats
      const identity = identityOf(file.stats)
      const left = (names.get(identity) ?? 1) - 1
      names.set(identity, left)
      if (left === 0) bytes += size
      if (transcripts.has(file.path)) sessions++
      removed.push({ path: file.path, bytes: size, lastActivityAt: new Date(lastActiveMs).toISOString() })
    }
    await setImmediate()
  }
  return { removed, sessions, bytes, bytesLeft: total - bytes }
}

interface Unit {
  readonly files: readonly KeptFile[]
  readonly lastActiveMs: number
}

/** What is gone, by session; a file that belongs to none stands alone. Those that were active longest ago come first. */
async function findUnits(
  pairs: readonly KeptSource[],
): Promise<{ readonly units: readonly Unit[]; readonly transcripts: ReadonlySet<string> }> {
  const { owners, transcripts, activeMs } = await findOwners(pairs)
  const filesOf = new Map<string, KeptFile[]>()
  const standing = new Set<string>()
  for (const file of await survey(pairs)) {
    const key = ownerOf(file.path, owners)
    if (!file.isGone && transcripts.has(file.path)) standing.add(key)
    if (file.isGone) filesOf.set(key, [...(filesOf.get(key) ?? []), file])
  }
  // What lies beside a transcript that is still there belongs to a session that is still there.
  for (const key of standing) filesOf.delete(key)
  const units = [...filesOf].map(([key, files]) => ({
    // What lies beside a transcript goes before it, so that it can be found and pruned again if this is interrupted.
    files: files.toSorted((a, b) => (a.path < b.path ? 1 : -1)),
    lastActiveMs: activeMs.get(key) ?? Math.max(...files.map(({ stats }) => stats.mtimeMs)),
  }))
  return { units: units.toSorted((a, b) => a.lastActiveMs - b.lastActiveMs), transcripts }
}

interface Owners {
  /** The session that a file, or all in a folder, belongs to. */
  readonly owners: ReadonlyMap<string, string>
  readonly transcripts: ReadonlySet<string>
  /** When a session was last active: a file's own time changes when it is copied, restored or touched. */
  readonly activeMs: ReadonlyMap<string, number>
}

async function findOwners(pairs: readonly KeptSource[]): Promise<Owners> {
  const owners = new Map<string, string>()
  const transcripts = new Set<string>()
  const activeMs = new Map<string, number>()
  for (const { kept } of pairs) {
    for (const { path, sideDir, loose = [], history = [] } of (await kept.find()).sessions) {
      // Sessions that go on from the same beginning go together: none of them can do without it.
      const owner = history.at(-1) ?? path
      transcripts.add(path)
      for (const file of [path, ...history, ...loose.map((subagent) => subagent.path)])
        owners.set(file, owner)
      if (sideDir !== undefined) owners.set(sideDir, owner)
    }
    for (const { path, lastActivityAt = '' } of (await kept.list()).sessions) {
      const key = ownerOf(path, owners)
      const time = Date.parse(lastActivityAt)
      if (!Number.isNaN(time)) activeMs.set(key, Math.max(time, activeMs.get(key) ?? time))
    }
  }
  return { owners, transcripts, activeMs }
}

function ownerOf(path: string, owners: ReadonlyMap<string, string>): string {
  for (let at = path; at.includes(sep); at = dirname(at)) {
    const owner = owners.get(at)
    if (owner !== undefined) return owner
    if (at === dirname(at)) break
  }
  return path
}

/** The original is looked for once more: it may have come back since. */
function remove({ path, original }: KeptFile, pairs: readonly KeptSource[]): boolean {
  if (original !== undefined && mayBeThere(original)) return false
  try {
    unlinkSync(path)
  } catch {
    return false
  }
  const roots = pairs.map(({ kept }) => kept.root)
  for (
    let folder = dirname(path);
    !roots.includes(folder) && folder !== dirname(folder);
    folder = dirname(folder)
  ) {
    try {
      rmdirSync(folder)
    } catch {
      // There is more in it.
      break
    }
  }
  return true
}

async function survey(pairs: readonly KeptSource[]): Promise<readonly KeptFile[]> {
  const found: Omit<KeptFile, 'isGone'>[] = []
  /** Those whose original is there. */
  const standing = new Set<string>()
  for (const { source, kept } of pairs) {
    for (const [index, path] of (await walk(kept.root)).entries()) {
      if (index % BREATH === BREATH - 1) await setImmediate()
      const stats = findStats(path)
      if (stats === undefined || !stats.isFile()) continue
      const place = path.slice(kept.root.length + 1)
      const original = place.startsWith(`replaced${sep}`) ? undefined : `${source.root}${sep}${place}`
      if (original !== undefined && mayBeThere(original)) standing.add(path)
      found.push({ path, stats, original })
    }
  }
  const names = countNames(found)
  return found.map((file) => {
    const isOnlyHere = file.stats.nlink <= (names.get(identityOf(file.stats)) ?? 0)
    return { ...file, isGone: isOnlyHere && !standing.has(file.path) }
  })
}

/** How many names of each file are among these. */
function countNames(files: readonly Pick<KeptFile, 'stats'>[]): Map<string, number> {
  const names = new Map<string, number>()
  for (const { stats } of files) names.set(identityOf(stats), (names.get(identityOf(stats)) ?? 0) + 1)
  return names
}

async function walk(dir: string): Promise<readonly string[]> {
  const files: string[] = []
  const folders = [dir]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const children = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const child of children) {
      const path = `${folder}${sep}${child.name}`
      if (child.isDirectory()) folders.push(path)
      else if (child.isFile()) files.push(path)
    }
  }
  return files
}

/** Each file once, however many names it has. */
function bytesOf(files: readonly KeptFile[]): number {
  const sizes = new Map(files.map(({ stats }) => [identityOf(stats), stats.size]))
  let sum = 0
  for (const size of sizes.values()) sum += size
  return sum
}
