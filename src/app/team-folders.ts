import { existsSync } from 'node:fs'
import { sep } from 'node:path'
import type { SessionSummary } from '#model'
import { realPathOf } from './config.ts'
import { findRemote } from './git-remote.ts'

/** By the map of config.json: a folder, or one that it is in. */
export function findMapped(there: string, map: Readonly<Record<string, string>>): string | undefined {
  const [best] = Object.entries(map)
    .filter(([from]) => there === from || there.startsWith(`${from}/`) || there.startsWith(`${from}\\`))
    .toSorted(([a], [b]) => b.length - a.length)
  return best && `${best[1]}${there.slice(best[0].length).replaceAll('\\', sep)}`
}

/** The one whose path ends most like the other. None when two do so equally. */
export function findNearest(there: string, folders: readonly string[]): string | undefined {
  const ranked = folders
    .map((folder) => ({ folder, alike: alikeFrom(there, folder) }))
    .toSorted((a, b) => b.alike - a.alike)
  const [first, second] = ranked
  return first !== undefined && (second === undefined || second.alike < first.alike)
    ? first.folder
    : undefined
}

function alikeFrom(a: string, b: string): number {
  const [left, right] = [a, b].map((path) => path.split(/[/\\]/).toReversed())
  const at = (left ?? []).findIndex((part, n) => part !== right?.[n])
  return at === -1 ? (left?.length ?? 0) : at
}

export interface WorkdirsHere {
  /** `team.workdirs` of config.json. */
  readonly map: Readonly<Record<string, string>>
  /** The repository that a folder of another machine is a clone of. */
  readonly remoteOf: (workdir: string, origin: string) => string | undefined
  readonly sessions: () => readonly SessionSummary[]
  readonly now: () => number
}

/** How long it is believed which folder is the same. */
const KNOWN_MS = 60_000

/** Finds the folder here that is the same as one on another machine: by the map, or by its repository. */
export function createWorkdirsHere(
  options: WorkdirsHere,
): (workdir: string, origin: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  let until = 0
  let clones: ReadonlyMap<string, readonly string[]> = new Map()

  function look(): void {
    until = options.now() + KNOWN_MS
    known.clear()
    const own = options.sessions().filter(({ origin, demo }) => origin === undefined && demo !== true)
    const folders = new Set(own.flatMap(({ workdirs }) => workdirs))
    const found = new Map<string, string[]>()
    for (const folder of folders) {
      const remote = existsSync(folder) ? findRemote(folder) : undefined
      if (remote !== undefined) found.set(remote, [...(found.get(remote) ?? []), realPathOf(folder)])
    }
    clones = found
  }

  function find(workdir: string, origin: string): string | undefined {
    const mapped = findMapped(workdir, options.map)
    if (mapped !== undefined) return mapped
    const remote = options.remoteOf(workdir, origin)
    return remote === undefined ? undefined : findNearest(workdir, clones.get(remote) ?? [])
  }

  return (workdir, origin) => {
    if (options.now() > until) look()
    const key = `${origin} ${workdir}`
    if (!known.has(key)) known.set(key, find(workdir, origin))
    return known.get(key)
  }
}
