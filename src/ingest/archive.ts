import { readdirSync, realpathSync, type Dirent, type Stats } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { string, ThroughlineError } from '#base'
import {
  openPlainFile,
  type SessionFiles,
  type Source,
  type SourceProblem,
  type TranscriptFile,
} from '#sources'
import type { ArchiveState } from '#wire'
import {
  copyOver,
  extendCopy,
  findStats,
  identityOf,
  isBeginning,
  linkOver,
  setAside,
  type LinkFile,
} from './archive-file.ts'
import {
  findLost,
  prune,
  readState,
  type LostSession,
  type Pruned,
  type PruneOptions,
} from './archive-survey.ts'
import { createSlices } from './slices.ts'

export interface ArchiveOptions {
  /** `<home>/archive`, which need not exist. */
  readonly dir: string
  /** The agents' own files. Below `dir` each agent has a folder with the same layout. */
  readonly sources: readonly Source[]
  readonly enabled: boolean
  onProblem(problem: SourceProblem): void
  readonly now: () => number
  /** The seam where a test hands in a file system without hard links. */
  readonly link?: LinkFile
}

/**
 * What became of a file. `refused`: it is no regular file of its source. `gone`: the original is not there; what was
 * kept of it stays. `failed`: the disk said no, and the problem was told.
 */
export type KeepOutcome =
  | 'linked'
  | 'copied'
  | 'extended'
  | 'unchanged'
  | 'refused'
  | 'gone'
  | 'failed'
  | 'off'

/** Keeps what agents delete. Nothing is ever removed from it but by `prune`. */
export interface Archive {
  /** For each agent, a source that lists what is kept of it. */
  readonly sources: readonly Source[]
  /** Keeps one file of a source, or brings what is kept of it up to date. One look when there is nothing to do. */
  keep(path: string, source: Source): Promise<KeepOutcome>
  /** Keeps sessions with all that lies beside them, in slices. Gives how many files were new or had changed. */
  keepAll(sessions: readonly SessionFiles[], source: Source): Promise<number>
  /** Walks the archive, in slices. */
  state(): Promise<ArchiveState>
  /** The kept sessions whose original is not there any more, without those that live on elsewhere. */
  lost(liveIds?: ReadonlySet<string>): Promise<readonly LostSession[]>
  /** Removes what has no original any more, oldest first, as far as the limits ask for it. */
  prune(limits: PruneOptions): Promise<Pruned>
}

/** A file may change twice within one tick of the disk's clock: a time that was young when we looked proves nothing. */
const YOUNG_MS = 2_000

type Known =
  | { readonly by: 'link'; readonly identity: string; size: number }
  /** `ours`: written by this process, so that adding to it cannot touch a file of the agent. */
  | { readonly by: 'copy'; readonly identity: string; readonly stamp: string; readonly ours: boolean }

/** Opens the archive. Makes no folder until there is something to keep. */
export function openArchive(options: ArchiveOptions): Archive {
  const { sources } = options
  const dir = realPathOf(options.dir)
  const keptSources = sources.map((source) => source.at(join(dir, source.agent)))
  const pairs = sources.flatMap((source, index) => {
    const kept = keptSources[index]
    return kept === undefined ? [] : [{ source, kept }]
  })
  const known = new Map<string, Known>()
  const underWay = new Map<string, Promise<KeepOutcome>>()
  const told = new Set<string>()

  async function keep(path: string, source: Source): Promise<KeepOutcome> {
    if (!options.enabled) return 'off'
    const place = source.findPlace(path)
    const stats = place === undefined ? undefined : findStats(path)
    if (place === undefined) return 'refused'
    if (stats === undefined) return 'gone'
    if (!stats.isFile()) return 'refused'
    const target = join(dir, source.agent, place)
    if (isUnchanged(target, path, stats) || isLinkedAlready(target, stats, source)) return 'unchanged'
    const running = underWay.get(target)
    if (running !== undefined) return running
    const work = bring(path, { source, place, target }).finally(() => underWay.delete(target))
    underWay.set(target, work)
    return work
  }

  function isUnchanged(target: string, path: string, stats: Stats): boolean {
    const before = known.get(target)
    if (before?.identity !== identityOf(stats)) return false
    if (before.by === 'copy') return before.stamp === stampOf(stats)
    if (stats.size < before.size) tellCut(path, before.size, stats.size)
    before.size = stats.size
    return true
  }

  /** After a restart: another look, and nothing is opened. */
  function isLinkedAlready(target: string, stats: Stats, source: Source): boolean {
    if (source.rewritesInPlace || known.has(target)) return false
    const kept = findStats(target)
    const identity = identityOf(stats)
    if (kept === undefined || identityOf(kept) !== identity) return false
    known.set(target, { by: 'link', identity, size: stats.size })
    return true
  }

  async function bring(path: string, goal: Goal): Promise<KeepOutcome> {
    try {
      const original = openPlainFile(path)
      try {
        if (!standsWhereItSays(path, goal)) return 'refused'
        return await update(original, goal)
      } finally {
        original.close()
      }
    } catch (error) {
      if (error instanceof ThroughlineError) return error.code === 'transcript-gone' ? 'gone' : 'refused'
      tellOnce(path, error)
      return 'failed'
    }
  }

  async function update(original: TranscriptFile, goal: Goal): Promise<KeepOutcome> {
    const { source, place, target } = goal
    const stats = findStats(target)
    if (stats === undefined) return make(original, goal)
    // A link from the time before it was known that the agent rewrites: it becomes a copy.
    if (identityOf(stats) === original.identity) return make(original, goal)
    const before = known.get(target)
    const isOurs = before?.by === 'copy' && before.ours
    const isSameFile = before?.identity === original.identity
    const kept = openPlainFile(target)
    try {
      const extent = isOurs && isSameFile && !source.rewritesInPlace ? 'sample' : 'all'
      if (await isBeginning(kept, original, extent)) {
        return await (isOurs ? extend(original, kept.size, target) : renew(original, kept.size, goal))
      }
    } finally {
      kept.close()
    }
    // Of what holds a state, a title or a flag, the latest counts; of what holds a history, nothing is given up.
    if (!place.endsWith('.json')) setAside(target, join(dir, source.agent, 'replaced', place))
    return make(original, goal)
  }

  async function extend(original: TranscriptFile, size: number, target: string): Promise<KeepOutcome> {
    if (size < original.size) await extendCopy(original, target, size)
    remember(original, target, { ours: true })
    return size < original.size ? 'extended' : 'unchanged'
  }

  /** What is kept is the beginning of the original, and may be a link to a file that somebody still writes to. */
  async function renew(original: TranscriptFile, size: number, goal: Goal): Promise<KeepOutcome> {
    if (size < original.size) return make(original, goal)
    if (link(original, goal)) return 'linked'
    remember(original, goal.target, { ours: false })
    return 'unchanged'
  }

  async function make(original: TranscriptFile, goal: Goal): Promise<KeepOutcome> {
    if (link(original, goal)) return 'linked'
    await copyOver(original, goal.target)
    remember(original, goal.target, { ours: true })
    return 'copied'
  }

  function link(original: TranscriptFile, { source, target }: Goal): boolean {
    if (source.rewritesInPlace || !linkOver(original, target, options.link)) return false
    known.set(target, { by: 'link', identity: original.identity, size: original.size })
    return true
  }

  function remember(original: TranscriptFile, target: string, { ours }: { readonly ours: boolean }): void {
    const isYoung = original.modifiedMs > options.now() - YOUNG_MS
    const stamp = isYoung ? 'young' : `${original.size}:${original.modifiedMs}`
    known.set(target, { by: 'copy', identity: original.identity, stamp, ours })
  }

  function tellCut(path: string, from: number, to: number): void {
    options.onProblem({
      path,
      message: `was cut from ${from} to ${to} bytes in place, and what is kept of it with it`,
      hint: 'What was cut is not in the archive either. Look into what has cut it.',
    })
  }

  function tellOnce(path: string, error: unknown): void {
    const cause = string(error, 'code') ?? String(error)
    if (told.has(cause)) return
    told.add(cause)
    const message = `cannot be kept in the archive: ${error instanceof Error ? error.message : cause}`
    options.onProblem({ path, message, hint: `Check the free space and the permissions of ${dir}.` })
  }

  return {
    sources: keptSources,
    keep,
    async keepAll(sessions, source) {
      told.clear()
      let changed = 0
      const slices = createSlices()
      for (const files of sessions) {
        for (const path of filesOf(files)) {
          if (DONE.has(await keep(path, source))) changed++
          if (slices.isOver()) await slices.next()
        }
      }
      return changed
    },
    state: async () => ({ enabled: options.enabled, ...(await readState(pairs)) }),
    lost: (liveIds = new Set()) => findLost(pairs, liveIds),
    async prune(limits) {
      const pruned = await prune(pairs, limits, options.now)
      if (limits.dryRun !== true) for (const { path } of pruned.removed) known.delete(path)
      return pruned
    },
  }
}

interface Goal {
  readonly source: Source
  readonly place: string
  readonly target: string
}

const DONE: ReadonlySet<KeepOutcome> = new Set(['linked', 'copied', 'extended'])

/** The folders on the way may have been made into links that lead elsewhere. */
function standsWhereItSays(path: string, { source, place }: Goal): boolean {
  return source.findPlace(join(realpathSync.native(dirname(path)), basename(path))) === place
}

function stampOf({ size, mtimeMs }: Stats): string {
  return `${size}:${mtimeMs}`
}

/** Without links on the way, also where the end of it is not there yet. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path === dirname(path) ? path : join(realPathOf(dirname(path)), basename(path))
  }
}

/** A session's transcript, what it goes on from, and whatever regular files lie beside it, links not followed. */
export function filesOf({ path, sideDir, loose = [], history = [] }: SessionFiles): readonly string[] {
  const files = [path, ...loose.map((subagent) => subagent.path), ...history]
  if (sideDir !== undefined) collect(sideDir, files)
  // Some agents keep the transcript itself in that folder.
  return [...new Set(files)]
}

function collect(dir: string, files: string[]): void {
  for (const child of entriesOf(dir)) {
    const path = `${dir}${sep}${child.name}`
    if (child.isDirectory()) collect(path, files)
    else if (child.isFile()) files.push(path)
  }
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
}
