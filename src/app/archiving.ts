import { setTimeout as after } from 'node:timers/promises'
import type { Archive } from '#ingest'
import type { SessionSummary } from '#model'
import type { SessionFiles, Source } from '#sources'
import type { ArchiveState } from '#wire'
import type { Sources } from './open-sources.ts'

/** Keeps in the archive what agents may delete, without being in anybody's way. */
export interface Archiving {
  /** A session that is being written to is looked at once in a while: a link needs no second look. */
  keepSoon(path: string): void
  keepAll(): Promise<void>
  /** The figures of a moment ago, or older ones where the archive is so large that newer ones take their time. */
  state(): Promise<ArchiveState>
  /** Resolves when nothing is being kept. */
  close(): Promise<void>
}

/** How long files beside a session may wait to be kept. */
const KEEP_MS = 5_000
/** How old the archive's figures may be: they come from a walk through all of it. */
const STATE_MS = 10_000
/** How long an answer waits for newer figures. A walk through tens of thousands of files takes longer. */
const PATIENCE_MS = 250

export function createArchiving({
  archive,
  sources,
  filesOf,
  now,
}: {
  readonly archive: Archive
  /** Those whose files are kept. */
  readonly sources: readonly Source[]
  readonly filesOf: (path: string) => SessionFiles | undefined
  readonly now: () => number
}): Archiving {
  const soon = new Map<string, NodeJS.Timeout>()
  const seen = new Set<string>()
  let keeping: Promise<unknown> | undefined
  /** The figures, as of a walk. */
  let known: { readonly at: number; readonly kept: number; readonly state: ArchiveState } | undefined
  let walking: Promise<ArchiveState> | undefined
  /** How often something was kept: figures from before that are old. */
  let kept = 0

  async function keepEvery(): Promise<void> {
    for (const source of sources) await archive.keepAll((await source.find()).sessions, source)
    kept++
  }

  async function walk(): Promise<ArchiveState> {
    const at = now()
    const since = kept
    const state = await archive.state()
    known = { at, kept: since, state }
    return state
  }

  return {
    keepSoon(path) {
      if (soon.has(path)) return
      const isFirst = !seen.has(path)
      seen.add(path)
      const timer = setTimeout(
        () => {
          soon.delete(path)
          const files = filesOf(path)
          const source = sources.find((each) => each.findPlace(path) !== undefined)
          if (files === undefined || source === undefined) return
          keeping = archive
            .keepAll([files], source)
            .catch(() => 0)
            .finally(() => kept++)
        },
        isFirst ? 0 : KEEP_MS,
      )
      soon.set(path, timer.unref())
    },
    async keepAll() {
      // What cannot be kept was told as a problem.
      const all = keepEvery().catch(() => {})
      keeping = all
      await all
    },
    state() {
      if (known !== undefined && known.kept === kept && now() - known.at <= STATE_MS)
        return Promise.resolve(known.state)
      walking ??= walk().finally(() => {
        walking = undefined
      })
      return known === undefined
        ? walking
        : Promise.race([walking, after(PATIENCE_MS, known.state, { ref: false })])
    },
    async close() {
      for (const timer of soon.values()) clearTimeout(timer)
      await keeping
    },
  }
}

/** Whether a transcript was written here by an agent that may delete it. */
export function isAgents({ path, demo, origin }: SessionSummary, { recorded }: Sources): boolean {
  return demo !== true && origin === undefined && !recorded.some(({ root }) => path.startsWith(root))
}
