import { watch as watchFolder } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { string } from '#base'
import type { SourceProblem } from '#sources'
import { findMark, isFolder, type FolderMark } from './folder-mark.ts'

/** The part of `fs.watch` that is used: the seam where a test hands in a system that refuses. */
export type WatchFolder = (
  dir: string,
  onEvent: (type: string, name: string | null) => void,
  onError: (error: Error) => void,
) => { close(): void }

export interface WatcherOptions {
  /**
   * The folders to watch right now, those that matter most first; with `under`, at least that one and those below it,
   * as far as they are to be watched.
   */
  dirs(under?: string): readonly string[]
  /** Something may have changed: this name in this folder, or, without a name, anything in it. Only a hint. */
  onHint(dir: string, name: string | undefined): void
  /** Once every `sweepMs`: look at everything, as if no hint had ever come. */
  onSweep?(): void
  /** A folder that is left to the sweep, told once per cause. */
  onProblem(problem: SourceProblem): void
  readonly now: () => number
  readonly sweepMs?: number
  readonly watch?: WatchFolder
}

export interface Watcher {
  /** How many folders are watched. */
  readonly size: number
  /** Asks for the folders anew: takes up those that came or were replaced, drops those that went. */
  refresh(): void
  /** A sweep ahead of its time. */
  sweep(): void
  close(): void
}

const SWEEP_MS = 10_000
/** Every so many sweeps the folders are asked for anew, whatever their times say. */
const FULL_EVERY = 3
const YOUNG_MS = 2_000

/**
 * Watches folders for hints, one watch for each, and sweeps for what hints miss. A hint comes once per name and turn
 * of the event loop, without delay. A folder that appears while it is open is watched, and hinted as a whole. Whatever
 * cannot be watched is told to `onProblem` and left to the sweep; nothing throws. Keeps no process alive.
 */
export function openWatcher(options: WatcherOptions): Watcher {
  const { sweepMs = SWEEP_MS, watch = watchWithNode } = options
  const watched = new Map<string, { mark: FolderMark; close(): void }>()
  /** What happened since the last turn: by folder, the names, and whether a name came or went. */
  const pending = new Map<string, Map<string | undefined, { moved: boolean }>>()
  /** The causes that were told and have not gone away since. */
  const told = new Set<string>()
  let flushing: NodeJS.Immediate | undefined
  /** Whether the last full look found everything watched already. */
  let settled = false
  let sweeps = 0
  let closed = false

  function note(dir: string, name: string | undefined, moved: boolean): void {
    if (closed) return
    const names = pending.get(dir) ?? new Map<string | undefined, { moved: boolean }>()
    pending.set(dir, names)
    const seen = names.get(name)
    if (seen === undefined) names.set(name, { moved })
    else if (moved) seen.moved = true
    flushing ??= setImmediate(flush)
  }

  function flush(): void {
    flushing = undefined
    const batch = [...pending]
    pending.clear()
    for (const [dir, names] of batch) {
      for (const [name, { moved }] of names) {
        if (moved && name !== undefined) lookAtFolder(dir, name)
        tell(dir, () => options.onHint(dir, name))
      }
    }
  }

  /** A name came or went. Where it is a folder, the watches on it and below it may be on what was there before. */
  function lookAtFolder(dir: string, name: string): void {
    const path = join(dir, name)
    if (watched.has(path) || isFolder(path)) renew(path)
    // A folder that itself is moved or deleted says so under its own name.
    if (name === basename(dir)) renew(dir)
  }

  function renew(path: string): void {
    for (const dir of watched.keys()) {
      if (dir === path || dir.startsWith(`${path}${sep}`)) drop(dir)
    }
    for (const dir of add(options.dirs(path)).added) note(dir, undefined, false)
  }

  function refresh(): void {
    if (closed) return
    const wanted = options.dirs()
    const kept = new Set(wanted)
    for (const dir of watched.keys()) if (!kept.has(dir)) drop(dir)
    dropReplaced()
    const { added, refused } = add(wanted)
    for (const dir of added) note(dir, undefined, false)
    // Only a look that finds everything watched, as the one before left it, shows that a cause has gone away.
    settled = added.length === 0 && !refused
    if (settled) told.clear()
  }

  /** Drops watches on what is not there any more. Says whether in one of the folders a name may have come or gone. */
  function dropReplaced(): boolean {
    let moved = false
    for (const [dir, handle] of watched) {
      const mark = findMark(dir)
      if (mark?.identity !== handle.mark.identity) drop(dir)
      // A folder may change twice within one tick of its clock: a young time proves nothing.
      if (mark === undefined || !(mark.modifiedMs < options.now() - YOUNG_MS)) moved = true
      else if (mark.modifiedMs !== handle.mark.modifiedMs || mark.identity !== handle.mark.identity)
        moved = true
      if (mark !== undefined) handle.mark = mark
    }
    return moved
  }

  /** Gives those that are watched now and were not before, and whether one of them could not be. */
  function add(dirs: readonly string[]): { readonly added: readonly string[]; readonly refused: boolean } {
    const added: string[] = []
    let refused = false
    for (const dir of dirs) {
      if (closed || watched.has(dir)) continue
      const cause = start(dir)
      if (cause === undefined) added.push(dir)
      else if (cause !== 'ENOENT') refused = true
      // The next one would be refused too, and each refusal costs.
      if (LIMITS.has(cause ?? '')) break
    }
    return { added, refused }
  }

  /** Gives why it failed. */
  function start(dir: string): string | undefined {
    // Asked before it is watched: a folder that is replaced in between is found out by the next look.
    const mark = findMark(dir)
    if (mark === undefined) return 'ENOENT'
    try {
      const handle = watch(
        dir,
        (type, name) => note(dir, name ?? undefined, type === 'rename'),
        (error) => fail(dir, error),
      )
      watched.set(dir, { mark, close: () => handle.close() })
      return undefined
    } catch (error) {
      return report(dir, error)
    }
  }

  function fail(dir: string, error: Error): void {
    drop(dir)
    if (closed) return
    note(dir, undefined, false)
    // Some systems call the deletion of a watched folder an error.
    if (isFolder(dir)) report(dir, error)
  }

  function report(dir: string, error: unknown): string {
    const cause = string(error, 'code') ?? 'unknown'
    if (cause === 'ENOENT') return cause
    const message = `cannot be watched: ${error instanceof Error ? error.message : cause}`
    const hint = `${HINTS[cause] ?? ''}What changes there is seen a few seconds later.`
    tellOnce(cause, { path: dir, message, hint })
    return cause
  }

  function tellOnce(cause: string, problem: SourceProblem): void {
    if (told.has(cause)) return
    told.add(cause)
    options.onProblem(problem)
  }

  function drop(dir: string): void {
    const handle = watched.get(dir)
    watched.delete(dir)
    try {
      handle?.close()
    } catch {
      // The system has let go of it already.
    }
  }

  /** What a listener throws stops neither the other hints nor the sweep. */
  function tell(path: string, listener: () => void): void {
    try {
      listener()
    } catch (error) {
      const message = `a change could not be followed: ${error instanceof Error ? error.message : String(error)}`
      tellOnce(message, { path, message, hint: 'The next sweep looks again.' })
    }
  }

  function sweep(): void {
    if (closed) return
    sweeps++
    // A folder that did not change has no new folders: on a quiet machine nearly every sweep is one look at each.
    if (dropReplaced() || !settled || sweeps % FULL_EVERY === 0) refresh()
    tell('the sweep', () => options.onSweep?.())
  }

  add(options.dirs())
  const timer = setInterval(sweep, sweepMs)
  timer.unref()
  return {
    get size() {
      return watched.size
    },
    refresh,
    sweep,
    close() {
      closed = true
      clearInterval(timer)
      clearImmediate(flushing)
      pending.clear()
      for (const dir of watched.keys()) drop(dir)
    },
  }
}

/** Refusals that all further folders would get too. */
const LIMITS: ReadonlySet<string> = new Set(['ENOSPC', 'EMFILE', 'ENFILE'])

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: 'Raise fs.inotify.max_user_watches with sysctl. ',
  EMFILE: 'Raise fs.inotify.max_user_instances with sysctl, or the limit on open files. ',
  ENFILE: 'Too many files are open on this machine. ',
  EACCES: 'Check that you may read the folder. ',
}

function watchWithNode(...[dir, onEvent, onError]: Parameters<WatchFolder>): { close(): void } {
  const handle = watchFolder(dir, { persistent: false }, onEvent)
  handle.on('error', onError)
  return handle
}
