import { join } from 'node:path'
import type { CatalogueSource } from '#ingest'
import {
  createClaudeSource,
  createCodexSource,
  createEntireSource,
  createGeminiSource,
  createOpencodeSource,
  type Meter,
  type Source,
} from '#sources'
import { realPathOf } from './config.ts'
import { guardedSource } from './guarded-source.ts'
import { createRecordedFolders, type RecordedFolders } from './recorded-folders.ts'
import { createClaims, withClaims, withoutOutrun } from './claims.ts'
import { createRecordedSources } from './recorded-sources.ts'
import { createSampleSource } from './sample-source.ts'
import type { Config } from './throughline.ts'

/** Everything that sessions are read from. */
export interface Sources {
  /** What Claude Code writes. */
  readonly own: Source
  /** What other agents write themselves. */
  readonly others: readonly Source[]
  /** Where sample sessions are. They are not watched, and not kept in the archive. */
  readonly samples: Source
  /** What was recorded in the home of agents that leave no transcript of their own. */
  readonly recorded: readonly Source[]
  /** What was recorded beside the work, in the layout of Entire. */
  readonly beside: Source
  readonly folders: RecordedFolders
  /** Sessions that were run here, by the ids under which their agents know them. */
  readonly claimed: () => ReadonlyMap<string, string>
}

export function createSources(config: Config, meter?: Meter): Sources {
  const home = realPathOf(config.home)
  const folders = createRecordedFolders(home)
  const others = [
    guardedSource(createCodexSource(config.codexDir, meter === undefined ? {} : { meter }), config.codexDir),
    guardedSource(
      createGeminiSource(config.geminiDir, join(home, 'transcribed', 'gemini'), meter),
      config.geminiDir,
    ),
    guardedSource(
      createOpencodeSource(config.opencodeDir, join(home, 'transcribed', 'opencode'), meter),
      config.opencodeDir,
    ),
  ]
  const claims = new Map(others.map(({ agent }) => [agent, createClaims(home, agent)]))
  return {
    own: guardedSource(createClaudeSource(config.claudeDir, meter), config.claudeDir),
    others: others.map((source) => {
      const of = claims.get(source.agent)
      return of === undefined ? source : withClaims(source, of, home)
    }),
    samples: createSampleSource(home, meter),
    recorded: createRecordedSources(home, meter).map((source) => {
      const of = claims.get(source.agent)
      return of === undefined ? source : withoutOutrun(source, of)
    }),
    beside: createEntireSource({ folders: () => folders.all(), meter }),
    folders,
    claimed: () =>
      new Map(
        [...claims.values()].flatMap((of) =>
          [...of.all()].flatMap(([id, { sessionId }]) =>
            sessionId === undefined ? [] : [[id, sessionId] as const],
          ),
        ),
      ),
  }
}

/** Where sessions are found: what agents wrote, what was recorded, and what is kept of it in the archive. */
export function toCatalogueSources(
  { own, others, samples, recorded, beside }: Sources,
  kept: readonly Source[],
): readonly CatalogueSource[] {
  return [
    { source: own, isArchive: false },
    ...others.map((source) => ({ source, isArchive: false })),
    { source: samples, isArchive: false, isSample: true },
    // Of a session whose agent has a transcript itself, a copy shows only when that one is gone.
    ...recorded.map((source) => ({ source, isArchive: source.agent === own.agent })),
    { source: beside, isArchive: false, isRecorded: true },
    ...kept.map((source) => ({
      source,
      isArchive: true,
      ...(source.agent === beside.agent ? { isRecorded: true as const } : {}),
    })),
  ]
}

/** The folders in which something may happen; the home too, where recorders note where they are at work. */
export function watchedFolders(sources: Sources, home: string, under?: string): readonly string[] {
  const { own, others, recorded, beside } = sources
  const folders = [own, ...others, ...recorded, beside].flatMap((from) => from.folders(under))
  return under === undefined ? [...folders, home] : folders
}

/** The folders in which hosts record, and note what agents call the sessions. */
export function recordedFolders({ recorded }: Sources): readonly string[] {
  return recorded.flatMap(({ root }) => [join(root, 'projects'), join(root, 'names')])
}
