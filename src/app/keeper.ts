import { hostname } from 'node:os'
import { join } from 'node:path'
import type { LiveState, SessionCounts, SessionSummary } from '#model'
import {
  openArchive,
  openCatalogue,
  openIndexThread,
  openLiveRegistry,
  openWatcher,
  type Archive,
  type Catalogue,
  type CatalogueChange,
  type CatalogueOptions,
  type LiveRegistry,
  type SessionIndex,
} from '#ingest'
import type { SessionFiles } from '#sources'
import { INDEX_VERSION } from '#store'
import type { ArchiveState, Notice } from '#wire'
import { createArchiving, isAgents } from './archiving.ts'
import { isWithin } from './config.ts'
import { createExpectedSessions } from './expected-sessions.ts'
import { cataloguePath, dropOldIndexes, makeFolders, tellIndex, toTasks } from './kept-files.ts'
import { createNotices } from './kept-notices.ts'
import { LINEAGE_FILE, type LineageLog } from './lineage-log.ts'
import { createLookAround, type LookAround } from './look-around.ts'
import type { Team } from './open-team.ts'
import { withNameElsewhere } from './team-names.ts'
import { recordedFolders, toCatalogueSources, watchedFolders, type Sources } from './open-sources.ts'
import { withoutMendedCrashes } from './orderly-ends.ts'
import type { Preferences } from './preferences.ts'
import { registerPath } from './recorded-folders.ts'
import type { Config } from './throughline.ts'

/** Knows every session as it is now, and hears of every change. What the daemon keeps open. */
export interface Keeper {
  readonly catalogue: Catalogue
  /** Absent when nobody asked for one. */
  readonly index: SessionIndex | undefined
  /** The index, as soon as it is opened. */
  readonly opening: Promise<SessionIndex | undefined>
  readonly archive: Archive
  archiveState(): Promise<ArchiveState>
  notices(): readonly Notice[]
  /** Whether a session may be shown that worked in this folder. Absent: any. */
  readonly isAllowed: ((workdir: string) => boolean) | undefined
  /** The session a transcript belongs to: its own, or a subagent's. */
  sessionOf(path: string): SessionSummary | undefined
  onChange(listener: (change: CatalogueChange) => void): () => void
  /** In milliseconds. */
  lastWrite(id: string): number | undefined
  /** Every session: those that have a transcript, and those that are run and have none yet. */
  sessions(): readonly SessionSummary[]
  /** This session is run and has no transcript yet; with nothing, it will have none. */
  expect(id: string, session: SessionSummary | undefined): void
  /** Names and marks of this session are others now, or what it is doing. */
  refresh(id: string): void
  /** There may be folders that were not there before. */
  rewatch(): void
  close(): Promise<void>
}

export interface KeeperOptions extends Pick<CatalogueOptions, 'liveElsewhere' | 'meter' | 'now' | 'restMs'> {
  readonly config: Config
  readonly sources: Sources
  /** What a session is doing that is run here. */
  readonly liveOf: (id: string) => LiveState | undefined
  readonly preferences: Preferences
  readonly lineage: LineageLog
  /** Whether to keep an index and an archive: one process per home does. */
  readonly keeps: boolean
  readonly sweepMs?: number | undefined
  /** What other machines of the team have. */
  readonly team?: Pick<Team, 'sources' | 'nameOf'> | undefined
}

/** How long after a change what is known is written down for the next process. */
const REMEMBER_MS = 30_000
/** What a lost hint costs at most. A look at two thousand files takes a fortieth of a second. */
const SWEEP_MS = 25_000
/** Quiet files are looked at once in so many sweeps. */
const SWEEP_TURNS = 4
/** The system keeps 16,384 events for us, and drops what comes beyond. */
const MANY_HINTS = 1_000
/** The index is begun when the list is out: it would only take the processor from it. */
const INDEX_DELAY_MS = 400

export async function openKeeper(options: KeeperOptions): Promise<Keeper> {
  const { config, sources, preferences, lineage, keeps, now } = options
  const { own: source, beside, folders } = sources
  const { home, allowedRoots } = config
  const { notify, notices } = createNotices(now)
  const listeners = new Set<(change: CatalogueChange) => void>()
  const owners = new Map<string, string>()
  const byId = new Map<string, SessionSummary>()
  const counts = new Map<string, SessionCounts>()
  let live: LiveRegistry | undefined
  let around: LookAround | undefined
  let index: SessionIndex | undefined
  let remembering: NodeJS.Timeout | undefined
  /** Some folder gives no hints. */
  let isUnwatched = false
  let [sweeps, hints] = [0, 0]
  const expected = createExpectedSessions({ isKnown: (id) => byId.has(id), tell })

  // A folder that is not there cannot be watched, and the first recording is to be seen at once.
  if (keeps) makeFolders(recordedFolders(sources))
  const archive = openArchive({
    dir: join(home, 'archive'),
    sources: [source, beside, ...sources.others],
    enabled: keeps && config.archive,
    onProblem: ({ path, message, hint }) => notify({ message: `${path}: ${message}`, hint }),
    now,
  })
  const filesOf = (path: string): SessionFiles | undefined => catalogue.filesOf(path)
  const archiving = createArchiving({ archive, sources: [source, beside, ...sources.others], filesOf, now })
  const stateOf = (id: string): LiveState | undefined => live?.states.get(id)
  const held = withoutMendedCrashes(home, { stateOf, onChange: (ids) => catalogue.refresh(ids) })
  if (source.registry !== undefined) {
    live = openLiveRegistry({
      registry: source.registry,
      lastActivity: (id) => lastActivityOf(id),
      onChange: (changes) => held.refresh(changes.map(({ sessionId }) => sessionId)),
      now,
    })
  }
  const isAllowed =
    allowedRoots.length === 0 ? undefined : (workdir: string) => isWithin(workdir, allowedRoots)
  lineage.look()
  const catalogue = await openCatalogue({
    sources: [...toCatalogueSources(sources, archive.sources), ...(options.team?.sources ?? [])],
    ...(keeps ? { rememberedPath: cataloguePath(home) } : {}),
    isAllowed,
    // Who runs it here knows better than what its agent wrote down.
    liveOf: (id) => options.liveOf(id) ?? held.stateOf(id),
    liveElsewhere: options.liveElsewhere,
    preferenceOf: (id) => withNameElsewhere(preferences.get(id), options.team?.nameOf(id)),
    countsOf: (id) => counts.get(id),
    copyOf: (id) => lineage.copyOf(id),
    onChange: take,
    now,
    meter: options.meter,
    restMs: options.restMs,
  })

  function workdirs(): readonly string[] {
    return catalogue.sessions().flatMap((session) => session.workdirs)
  }

  function lastActivityOf(id: string): number | undefined {
    const at = byId.get(id)?.lastActivityAt
    return at === undefined ? undefined : Date.parse(at)
  }
  // Where recordings may be is known when the other sessions are.
  if (folders.look(workdirs())) await catalogue.sweep()
  for (const session of catalogue.sessions()) own(session)
  live?.refresh()
  held.refresh([...(live?.states.keys() ?? [])])
  function own(session: SessionSummary): void {
    byId.set(session.id, session)
    owners.set(session.path, session.path)
    for (const { path } of session.subagents) owners.set(path, session.path)
  }

  function tell(change: CatalogueChange): void {
    for (const listener of listeners) listener(change)
  }

  function take(change: CatalogueChange): void {
    const { session } = change
    tellIndex(index, change)
    if (change.kind === 'removed') {
      if (byId.get(session.id)?.path === session.path) byId.delete(session.id)
    } else {
      if (!owners.has(session.path)) around?.soon()
      own(session)
      expected.found(session.id)
      const isNews = change.kind === 'changed' && change.files.length > 0
      if (isNews && session.sourceGone !== true && isAgents(session, sources))
        archiving.keepSoon(session.path)
    }
    tell(change)
    remembering ??= setTimeout(remember, REMEMBER_MS).unref()
  }

  function remember(): void {
    remembering = undefined
    catalogue.remember().catch((error: unknown) => {
      notify({
        message: `What is known of the sessions could not be written down: ${String(error)}.`,
        hint: 'Check free space and permissions of the folder. The next start takes a little longer.',
      })
    })
  }

  const watcher = openWatcher({
    dirs: (under) => watchedFolders(sources, home, under),
    onHint(dir, name) {
      // Much is written there, and two things are news: somebody records in another folder, or a session was made.
      const isHome = dir === home
      if (isHome && join(home, name ?? '') === registerPath(home)) around?.now()
      if (isHome && name === LINEAGE_FILE) catalogue.refresh(lineage.look())
      if (isHome) return
      hints++
      if (source.registry !== undefined && dir === source.registry.dir) live?.refresh()
      else catalogue.hint(dir, name)
    },
    onSweep() {
      live?.refresh()
      around?.now()
      catalogue.refresh(lineage.look())
      // Hints get lost where there are none, or far too many. Else what is quiet is looked at in turns.
      const isSure = !isUnwatched && hints < MANY_HINTS
      hints = 0
      void catalogue.sweep(isSure ? { nth: sweeps++ % SWEEP_TURNS, of: SWEEP_TURNS } : undefined)
    },
    onProblem({ path, message, hint }) {
      isUnwatched = true
      notify({ message: `${path}: ${message}`, hint })
    },
    now,
    sweepMs: options.sweepMs ?? SWEEP_MS,
  })

  around = createLookAround({
    folders,
    workdirs,
    onFound() {
      watcher.refresh()
      void catalogue.sweep()
    },
  })

  let beginning: NodeJS.Timeout | undefined
  let stopOpening: (() => void) | undefined
  const opening = new Promise<SessionIndex | undefined>((resolve) => {
    stopOpening = () => resolve(undefined)
    if (keeps) beginning = setTimeout(() => resolve(begin()), INDEX_DELAY_MS)
    else resolve(undefined)
  })

  function begin(): SessionIndex {
    dropOldIndexes(home)
    const opened = openIndexThread({
      path: join(home, `index.v${INDEX_VERSION}.db`),
      origin: hostname(),
      onCounts(some) {
        for (const [id, known] of some) counts.set(id, known)
        catalogue.refresh(some.keys())
      },
      onNotice: notify,
      now,
      restMs: options.restMs,
    })
    opened.sync(catalogue.sessions().flatMap(toTasks))
    // What the last process left says nothing of lines that subagents wrote since.
    void catalogue.sweep()
    void archiving.keepAll().then(remember)
    index = opened
    return opened
  }

  return {
    catalogue,
    get index() {
      return index
    },
    opening,
    archive,
    archiveState: () => archiving.state(),
    notices,
    isAllowed,
    sessionOf: (path) => {
      const owner = owners.get(path)
      return owner === undefined ? undefined : catalogue.byPath(owner)
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    lastWrite: lastActivityOf,
    sessions: () => expected.among(catalogue.sessions()),
    expect: (id, session) => expected.expect(id, session),
    refresh: (id) => held.refresh([id]),
    rewatch: () => watcher.refresh(),
    async close() {
      clearTimeout(beginning)
      stopOpening?.()
      clearTimeout(remembering)
      watcher.close()
      around?.close()
      live?.close()
      catalogue.close()
      await catalogue.settled()
      await archiving.close()
      if (keeps) await catalogue.remember().catch(() => undefined)
      await index?.close()
    },
  }
}
