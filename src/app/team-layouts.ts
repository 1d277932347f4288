import { join, sep } from 'node:path'
import {
  createClaudeLayout,
  createClaudeSource,
  createCodexSource,
  createEntireSource,
  type Meter,
  type Source,
} from '#sources'
import type { Sources } from './open-sources.ts'
import type { Config } from './throughline.ts'

/**
 * The folders in which files of a machine have their place for others: one for each agent and each way in which its
 * sessions are written down. The first part of a place says which.
 */
const OWN = ['claude', 'codex', 'gemini', 'opencode'] as const
const RECORDED = ['scripted', 'codex', 'gemini', 'opencode', 'claude'] as const
const ENTIRE = 'entire'

export const LAYOUTS: readonly string[] = [...OWN, ...RECORDED.map((agent) => `recorded-${agent}`), ENTIRE]

/** Whether others may say that one of their files stands there. */
export function isTeamPlace(place: string): boolean {
  return LAYOUTS.includes(place.split('/')[0] ?? '')
}

/** Reads a layout below a folder. Nobody here runs what is in it. */
export function createLayout(layout: string, root: string, meter?: Meter): Source {
  const source = layoutOf(layout, root, meter)
  const { registry: _nobodyRunsThem, ...rest } = source
  return { ...rest, live: () => new Map() }
}

function layoutOf(layout: string, root: string, meter: Meter | undefined): Source {
  if (layout === 'claude') return createClaudeSource(root, meter)
  if (layout === 'codex') return createCodexSource(root, { meter })
  if (layout === ENTIRE) return createEntireSource({ folders: () => [], meter }).at(root)
  return createClaudeLayout(layout.replace(/^recorded-/, ''), root, meter)
}

/** Where a file of this machine stands, for others and on disk. */
export interface TeamPlace {
  /** With `/`. */
  readonly place: string
  /** Where its agent has it, or had it. */
  readonly path: string
  /** Where it is kept when that one is gone. */
  readonly keptAt?: string | undefined
}

/** Finds where files of this machine stand. */
export function createPlaceFinder(
  sources: Sources,
  config: Pick<Config, 'home'>,
): (path: string) => TeamPlace | undefined {
  const archive = join(config.home, 'archive')
  const kept = [sources.own, ...sources.others, sources.beside]
  const all = [
    ...[sources.own, ...sources.others].map((source) => ({ layout: source.agent, source })),
    ...sources.recorded.map((source) => ({ layout: `recorded-${source.agent}`, source })),
    { layout: ENTIRE, source: sources.beside },
  ]
  const archived = kept.map((source) => ({ source, kept: source.at(join(archive, source.agent)) }))
  return (path) => {
    if (path.startsWith(`${archive}${sep}`)) {
      for (const { source, kept: copy } of archived) {
        const place = copy.findPlace(path)
        if (place !== undefined)
          return { place: toPlace(source.agent, place), path: join(source.root, place), keptAt: path }
      }
      return undefined
    }
    for (const { layout, source } of all) {
      const place = source.findPlace(path)
      if (place === undefined) continue
      const isKept = kept.includes(source)
      return {
        place: toPlace(layout, place),
        path,
        ...(isKept ? { keptAt: join(archive, source.agent, place) } : {}),
      }
    }
    return undefined
  }
}

function toPlace(layout: string, place: string): string {
  return `${layout}/${place.split(sep).join('/')}`
}
