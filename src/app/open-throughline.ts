import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseJson, string } from '#base'
import {
  createLedger,
  NO_USAGE,
  addUsage,
  type LiveState,
  type Reading,
  type SessionSummary,
  type SessionView,
} from '#model'
import {
  createClaudeSource,
  openTranscript,
  readConversation,
  readForward,
  type Meter,
  type TranscriptFile,
} from '#sources'
import { toReport } from './check.ts'
import { readConfig, realPathOf } from './config.ts'
import type { Digests } from './digests.ts'
import { getSession } from './get-session.ts'
import { toHealth } from './health.ts'
import type { Keeper } from './keeper.ts'
import { deferLive } from './live-deferred.ts'
import type { Live, WakeUp } from './open-live.ts'
import { hasHosts, toLiveState, toPending, withLiveSessions } from './live-state.ts'
import { createRecordedSources } from './recorded-sources.ts'
import { createSampleSource } from './sample-source.ts'
import { listSessions, lookAtSessions, withFacts, type Listed } from './list-sessions.ts'
import { readPage, subagentPath } from './page.ts'
import { readLastPassages, readPassages } from './passages.ts'
import { openPreferences, type Preferences } from './preferences.ts'
import { surveySession } from './survey-session.ts'
import { createSubscriber } from './subscribe.ts'
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
  const source = createClaudeSource(config.claudeDir, meter)
  const samples = createSampleSource(realPathOf(config.home), meter)
  const recorded = createRecordedSources(realPathOf(config.home), meter)
  const { format } = source
  const startedAt = new Date(now()).toISOString()
  let preferring: Promise<Preferences> | undefined
  let keeping: Promise<Keeper> | undefined
  let living: Promise<Live> | undefined
  let live: Live | undefined
  let digests: Digests | undefined
  let keeper: Keeper | undefined

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
        source,
        samples,
        recorded,
        liveOf: (id) => liveOf(id),
        preferences: known,
        keeps: index,
        now,
        sweepMs: options.sweepMs,
        meter,
      })
      return keeper
    })()
    return keeping
  }

  /** Live sessions: with an index at once, else when somebody asks for them. */
  function openedLive(): Promise<Live> {
    living ??= (async () => {
      const { openLive } = await import('./open-live.ts')
      live = await openLive({
        config,
        env: options.env ?? process.env,
        now,
        registry: source.registry,
        get,
        look: async () => await keeper?.catalogue.sweep(),
        onChange: (view) => noteLive(view),
        lastWrite: (id) => keeper?.lastWrite(id),
        wakeUp: options.wakeUp,
      })
      for (const view of live.views()) noteLive(view)
      return live
    })()
    return living
  }

  function noteLive(view: SessionView): void {
    const isOver = view.state.state === 'ended'
    keeper?.expect(view.sessionId, isOver ? undefined : toPending(view))
    keeper?.refresh(view.sessionId)
  }

  function liveOf(id: string): LiveState | undefined {
    const view = live?.find(id)
    return view && toLiveState(view)
  }

  async function look(): Promise<Listed> {
    if (keeper !== undefined) {
      return { sessions: keeper.sessions(), problems: keeper.catalogue.problems() }
    }
    if (hasHosts(config.home)) await openedLive()
    const found = await lookAtSessions(source, config, { samples, recorded })
    const listed = withLiveSessions(found, live?.views() ?? [], config)
    const known = await preferences()
    await known.refresh()
    if (known.all().size === 0) return listed
    return { ...listed, sessions: listed.sessions.map((session) => withPreference(session, known)) }
  }

  async function get(query: string): Promise<SessionSummary> {
    return getSession((await look()).sessions, query)
  }

  const subscriber = createSubscriber({ keep, live: openedLive, format })
  if (index) {
    await keep()
    await openedLive()
  }

  return {
    config,
    async health() {
      return toHealth({ listed: await look(), keeper, keepsIndex: index, startedAt, version: readVersion() })
    },
    async list(filter = {}) {
      const ledger = keeper?.index === undefined ? {} : { ledger: fromCounts }
      return listSessions(await look(), { source, config, ...ledger }, filter)
    },
    get,
    async survey(session) {
      const { result } = await surveySession(source, session, createLedger())
      return withFacts(session, result)
    },
    async digest(session) {
      const { createDigests } = await import('./digests.ts')
      digests ??= createDigests(format, meter)
      return await digests.read(session)
    },
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
    async *passages(session, { subagent, last } = {}) {
      const path = subagent === undefined ? session.path : subagentPath(session, subagent)
      yield* withFile(path, async function* (file) {
        if (last === undefined) yield* readPassages(file, format)
        else yield await readLastPassages(file, format, last)
      })
    },
    async *entries(session) {
      yield* withFile(session.path, async function* (file): AsyncGenerator<Reading> {
        for await (const { readings } of readForward(file, format)) yield* readings
      })
    },
    page: (session, request) => readPage(format, session, { ...request, meter }),
    async conversation(session, { raw = true } = {}) {
      const file = openTranscript(session.path)
      try {
        const { entries } = await readConversation(file, format)
        return raw ? entries : entries.map((entry) => ({ ...entry, raw: NO_BYTES }))
      } finally {
        file.close()
      }
    },
    async check(session) {
      if (session.state === 'unreadable') return toReport(session, undefined, new Map())
      const { result, subagentDamage } = await surveySession(source, session, createLedger())
      return toReport(session, result, subagentDamage)
    },
    async *bytes(session) {
      yield* withFile(session.path, readBytes)
    },
    async search(request) {
      const { search } = await import('./search.ts')
      const { sessions } = await look()
      return search(request, { sessions, format, keeper, keepsIndex: index, now: now() })
    },
    async usage(request) {
      const { indexedUsage, scannedUsage } = await import('./usage.ts')
      const { sessions } = await look()
      if (keeper?.index !== undefined) return indexedUsage(keeper.index, sessions, request)
      return scannedUsage(source, sessions, request)
    },
    async demo(wanted) {
      const { removeDemo, writeDemo } = await import('./demo.ts')
      if (wanted === 'on') await writeDemo(samples.root, now())
      else await removeDemo(samples.root)
      await keeper?.catalogue.sweep()
    },
    live: deferLive(openedLive),
    subscribe: (topic, how) => subscriber.subscribe(topic, how),
    async pruneArchive(limits) {
      return (await keep()).archive.prune(limits)
    },
    async settled() {
      await keeper?.catalogue.settled()
      await (await keeper?.opening)?.settled()
    },
    async close() {
      subscriber.close()
      await (await living?.catch(() => undefined))?.close()
      await (await keeping)?.close()
      await (await preferring)?.close()
    },
  }
}

/** With an index every session's counts are at hand. */
async function fromCounts(
  sessions: readonly SessionSummary[],
): Promise<{ sessions: readonly SessionSummary[]; usage: typeof NO_USAGE; problems: readonly [] }> {
  let usage = NO_USAGE
  for (const { counts } of sessions) if (counts !== undefined) usage = addUsage(usage, counts.usage)
  return { sessions, usage, problems: [] }
}

function withPreference(session: SessionSummary, known: Preferences): SessionSummary {
  const { name, starred } = known.get(session.id)
  if (name === undefined && !starred) return session
  return {
    ...session,
    ...(name === undefined ? {} : { name, nameFrom: 'person' }),
    ...(starred ? { starred } : {}),
  }
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return string(parseJson(text), 'version') ?? ''
}

async function* withFile<T>(
  path: string,
  use: (file: TranscriptFile) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const file = openTranscript(path)
  try {
    yield* use(file)
  } finally {
    file.close()
  }
}

const NO_BYTES = new Uint8Array(0)
const PIECE = 256 * 1024

async function* readBytes(file: TranscriptFile): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < file.size;) {
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, file.size - position))
    const count = await file.read(buffer, buffer.length, position)
    if (count === 0) return
    position += count
    yield buffer.subarray(0, count)
  }
}
