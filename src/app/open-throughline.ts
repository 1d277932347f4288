import { homedir } from 'node:os'
import { join } from 'node:path'
import { createLedger, type LiveState, type Reading, type SessionSummary, type SessionView } from '#model'
import { formatOf, readForward, type Meter } from '#sources'
import { deferCalls, type SearchPage, type SearchRequest } from '#wire'
import { isBelieved } from './believed-recordings.ts'
import { checkSession } from './check.ts'
import { readConfig, realPathOf } from './config.ts'
import type { Digests } from './digests.ts'
import { createConversations } from './conversations.ts'
import { createForks } from './forks.ts'
import { getSession } from './get-session.ts'
import { toHealth } from './health.ts'
import { toJointRegistry } from './holders.ts'
import type { Keeper } from './keeper.ts'
import { deferLive } from './live-deferred.ts'
import type { Live, LiveTeam, WakeUp } from './open-live.ts'
import type { Memory } from './open-memory.ts'
import { openOnce } from './open-once.ts'
import { createLineageLog } from './lineage-log.ts'
import { hasHosts, toPending } from './live-state.ts'
import { lookAtFiles } from './look-at-files.ts'
import { createSources } from './open-sources.ts'
import type { Team } from './open-team.ts'
import { fromIndex, listSessions, withFacts, type Listed } from './list-sessions.ts'
import { createReading } from './passages.ts'
import { openPreferences, type Preferences } from './preferences.ts'
import { surveySession } from './survey-session.ts'
import { createSubscriber } from './subscribe.ts'
import { readBytes, withFile } from './transcript-reading.ts'
import type { Config, LocalThroughline } from './throughline.ts'

export interface OpenOptions {
  /** Where settings are read from. Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Settings that win over the environment. */
  readonly config?: Partial<Config>
  /**
   * Keeps an index and an archive in the home folder, and follows every session. One process per home does: the
   * daemon. Without it every call looks at the files.
   */
  readonly index?: boolean
  /** How often everything is looked at anew, for what watching missed. */
  readonly sweepMs?: number
  /** How long nobody writes to a transcript before its last line is taken without a newline. */
  readonly restMs?: number
  readonly meter?: Meter
  readonly now?: () => number
  /** Composes what a new live session begins with. */
  readonly wakeUp?: WakeUp
}

/** Opens Throughline in this process. Reads the environment once, here. */
export async function openThroughline(options: OpenOptions = {}): Promise<LocalThroughline> {
  const { now = Date.now, index = false, meter } = options
  const fromEnv = readConfig({ env: options.env ?? process.env, homeDir: homedir() })
  const given = { ...fromEnv, ...options.config }
  const config: Config = { ...given, allowedRoots: given.allowedRoots.map(realPathOf) }
  const sources = createSources(config, meter)
  const source = sources.own
  const lineage = createLineageLog(config.home)
  const startedAt = new Date(now()).toISOString()
  let preferring: Promise<Preferences> | undefined
  let keeping: Promise<Keeper> | undefined
  let living: Promise<Live> | undefined
  let live: Live | undefined
  let digests: Digests | undefined
  let keeper: Keeper | undefined
  let team: Team | undefined

  function preferences(): Promise<Preferences> {
    preferring ??= openPreferences(join(config.home, 'preferences.jsonl'), now)
    return preferring
  }

  /** What follows all sessions: opened at once with an index, else when somebody wants to hear of changes. */
  function keep(): Promise<Keeper> {
    keeping ??= (async () => {
      const { openKeeper } = await import('./keeper.ts')
      const known = await preferences()
      keeper = await openKeeper({
        config,
        sources,
        liveOf: (id) => liveOf(id),
        preferences: known,
        lineage,
        keeps: index,
        now,
        sweepMs: options.sweepMs,
        restMs: options.restMs,
        meter,
        team,
        liveElsewhere: (id) => live?.team?.stateOf(id),
      })
      return keeper
    })()
    return keeping
  }

  async function openedLiveTeam(): Promise<LiveTeam | undefined> {
    if (team === undefined) return undefined
    const { openLiveTeam } = await import('./open-live-team.ts')
    const places = { home: config.home, now, lineage, onChange: (id: string) => keeper?.refresh(id) }
    return await openLiveTeam(team, places)
  }

  /** Live sessions: with an index at once, else when somebody asks for them. */
  function openedLive(): Promise<Live> {
    living ??= (async () => {
      const { openLive } = await import('./open-live.ts')
      live = await openLive({
        team: await openedLiveTeam(),
        config,
        env: options.env ?? process.env,
        now,
        registry: toJointRegistry([source, ...sources.others], sources.claimed),
        get,
        sessions: async () => (await look()).sessions,
        look: async () => await keeper?.catalogue.sweep(),
        onChange: (view) => noteLive(view),
        forks: createForks({ lineage, now, restoring: restoring.open }),
        lastWrite: (id) => keeper?.lastWrite(id),
        wakeUp: options.wakeUp ?? (async (session) => await (await memory.open()).wakeUps().begin(session)),
      })
      for (const view of live.views()) noteLive(view)
      return live
    })()
    return living
  }

  /** What is remembered: with an index at once, else when somebody asks for it. */
  const memory = openOnce(async (): Promise<Memory> => {
    const { openMemory } = await import('./open-memory.ts')
    return await openMemory({
      config,
      now,
      sessions: async () => (await look()).sessions,
      believes: (session) => session.origin?.mine !== false && isBelieved(session, sources.folders),
      get,
      search,
      page,
      passages,
      keep,
      caughtUp,
      ...(index ? { promotesFrom: keeper } : {}),
      team: await team?.documents(),
    })
  })

  const deferred = deferCalls(async () => (await memory.open()).calls)

  /** Going on with sessions: when somebody asks for it. */
  const restoring = openOnce(async () => {
    const { openRestoring } = await import('./open-restoring.ts')
    const places = { config, env: options.env ?? process.env, get, now, onWritten: caughtUp }
    return openRestoring({ ...places, lineage, memory: deferred, digest, self: () => team?.self() })
  })

  /** Resolves when all that is on disk is known. */
  async function caughtUp(): Promise<void> {
    keeper?.rewatch()
    await keeper?.catalogue.sweep()
    await keeper?.catalogue.settled()
    await (await keeper?.opening)?.settled()
  }

  function noteLive(view: SessionView): void {
    const isOver = view.state.state === 'ended'
    keeper?.expect(view.sessionId, isOver ? undefined : toPending(view))
    keeper?.refresh(view.sessionId)
  }

  const liveOf = (id: string): LiveState | undefined => live?.stateOf(id)

  async function look(): Promise<Listed> {
    if (keeper !== undefined) {
      const { catalogue } = keeper
      const doubles = new Map([...sources.claimed(), ...catalogue.doubles()])
      const found = { problems: catalogue.problems(), doubles }
      return { sessions: keeper.sessions(), ...found, copies: catalogue.copies() }
    }
    if (hasHosts(config.home)) await openedLive()
    const views = live?.views() ?? []
    return await lookAtFiles(sources, config, { lineage, liveOf, views, preferences: await preferences() })
  }

  const get = async (query: string): Promise<SessionSummary> => getSession(await look(), query)

  const digest: Digests['read'] = async (session) => {
    const { createDigests } = await import('./digests.ts')
    digests ??= createDigests(meter)
    return await digests.read(session)
  }

  const { page, passages, changes } = createReading(config.home, meter, (id) => lineage.copyOf(id)?.id)

  async function search(request: SearchRequest): Promise<SearchPage> {
    const { search: searchIn } = await import('./search.ts')
    const { sessions } = await look()
    return searchIn(request, { sessions, keeper, keepsIndex: index, now: now(), team: team?.search })
  }

  const heard = { keep, live: openedLive, memory: memory.open, changes }
  const subscriber = createSubscriber({ ...heard, team: () => team?.search })
  if (index) {
    team = await (await import('./open-team.ts')).findTeam({ config, sources, now, meter })
    await keep()
    await openedLive()
    // Sessions are shown also when what is remembered cannot be read; whoever asks for that is told why.
    const remembered = await memory.open().catch(() => undefined)
    await team?.begin(await keep(), remembered?.shared)
  }

  return {
    config,
    async health() {
      const own = { config, now: now(), notices: memory.now?.notices() ?? [] }
      return toHealth({ listed: await look(), keeper, keepsIndex: index, startedAt, team, ...own })
    },
    async list(filter = {}) {
      const ledger = keeper?.index === undefined ? {} : { ledger: fromIndex(keeper.index) }
      return listSessions(await look(), { source, config, ...ledger }, filter)
    },
    get,
    async survey(session) {
      const { result } = await surveySession(session, createLedger())
      return withFacts(session, result)
    },
    digest,
    async rename(session, name) {
      await (await preferences()).rename(session.id, name)
      keeper?.refresh(session.id)
      return get(session.id)
    },
    async star(session, starred) {
      await (await preferences()).star(session.id, starred)
      keeper?.refresh(session.id)
      return get(session.id)
    },
    passages,
    async *entries(session) {
      yield* withFile(session.path, async function* (file): AsyncGenerator<Reading> {
        for await (const { readings } of readForward(file, formatOf(file.path))) yield* readings
      })
    },
    page,
    ...createConversations({ meter }),
    check: (session) => checkSession(session, { home: config.home, now: now() }),
    async *bytes(session) {
      yield* withFile(session.path, readBytes)
    },
    search,
    async usage(request) {
      const { indexedUsage, scannedUsage } = await import('./usage.ts')
      const { sessions } = await look()
      if (keeper?.index !== undefined)
        return indexedUsage(keeper.index, { sessions, team: team?.search }, request)
      return scannedUsage(sessions, request)
    },
    async demo(wanted) {
      const { setDemo } = await import('./demo.ts')
      await setDemo(sources.samples.root, wanted, now())
      await keeper?.catalogue.sweep()
    },
    live: deferLive(openedLive),
    memory: deferred,
    restoring: deferCalls(async () => (await restoring.open()).calls),
    team: deferCalls(async () => {
      const parts = { config, team, live: openedLive, get, look, digest, restoring: restoring.open, now }
      return (await import('./team-parts.ts')).createTeamOf(parts)
    }),
    async *pack(session) {
      yield* (await restoring.open()).handoffs.pack(session)
    },
    takeIn: async (bundle, how) => await (await restoring.open()).handoffs.takeIn(bundle, how),
    subscribe: (topic, how) => subscriber.subscribe(topic, how),
    async archiveState() {
      return { ...(await (await keep()).archive.state()), enabled: config.archive }
    },
    pruneArchive: async (limits) => (await keep()).archive.prune(limits),
    async settled() {
      await keeper?.catalogue.settled()
      await (await keeper?.opening)?.settled()
      await (await memory.opened())?.settled()
    },
    async close() {
      subscriber.close()
      await team?.close()
      await (await living?.catch(() => undefined))?.close()
      await (await memory.opened())?.close()
      await (await keeping)?.close()
      await (await preferring)?.close()
    },
  }
}
