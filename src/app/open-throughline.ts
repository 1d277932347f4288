import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseJson, string } from '#base'
import { createLedger, NO_USAGE, addUsage, type Reading, type SessionSummary } from '#model'
import {
  createClaudeSource,
  openTranscript,
  readConversation,
  readForward,
  type Meter,
  type TranscriptFile,
} from '#sources'
import type { Subscription } from '#wire'
import { toReport } from './check.ts'
import { readConfig, realPathOf } from './config.ts'
import type { Digests } from './digests.ts'
import { getSession } from './get-session.ts'
import { toHealth } from './health.ts'
import type { Keeper } from './keeper.ts'
import { createSampleSource } from './sample-source.ts'
import type { SessionsTopic } from './list-topics.ts'
import { listSessions, lookAtSessions, withFacts, type Listed } from './list-sessions.ts'
import { readPage, subagentPath } from './page.ts'
import { readLastPassages, readPassages } from './passages.ts'
import { openPreferences, type Preferences } from './preferences.ts'
import { surveySession } from './survey-session.ts'
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
}

/** Opens Throughline in this process. Reads the environment once, here. */
export async function openThroughline(options: OpenOptions = {}): Promise<LocalThroughline> {
  const { now = Date.now, index = false, meter } = options
  const fromEnv = readConfig({ env: options.env ?? process.env, homeDir: homedir() })
  const given = { ...fromEnv, ...options.config }
  const config: Config = { ...given, allowedRoots: given.allowedRoots.map(realPathOf) }
  const source = createClaudeSource(config.claudeDir, meter)
  const samples = createSampleSource(realPathOf(config.home), meter)
  const { format } = source
  const startedAt = new Date(now()).toISOString()
  let preferring: Promise<Preferences> | undefined
  let keeping: Promise<Keeper> | undefined
  let sessionsTopic: SessionsTopic | undefined
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

  async function look(): Promise<Listed> {
    if (keeper !== undefined) {
      return { sessions: keeper.catalogue.sessions(), problems: keeper.catalogue.problems() }
    }
    const listed = await lookAtSessions(source, config, samples)
    const known = await preferences()
    await known.refresh()
    if (known.all().size === 0) return listed
    return { ...listed, sessions: listed.sessions.map((session) => withPreference(session, known)) }
  }

  async function get(query: string): Promise<SessionSummary> {
    return getSession((await look()).sessions, query)
  }

  if (index) await keep()

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
    subscribe(topic, how): Subscription {
      let inner: Subscription | undefined
      let closed = false
      const begin = async (): Promise<void> => {
        const opened = await keep()
        const [{ subscribeToSession }, { createSessionsTopic, subscribeToQuery }] = await Promise.all([
          import('./session-topic.ts'),
          import('./list-topics.ts'),
        ])
        if (closed) return
        if (topic.kind === 'sessions') {
          sessionsTopic ??= createSessionsTopic(opened)
          inner = sessionsTopic.subscribe(how)
        } else if (topic.kind === 'query') {
          inner = await subscribeToQuery(opened, topic.q, how)
          if (closed) inner.close()
        } else {
          const find = async (): Promise<{ session: SessionSummary; path: string }> => {
            const session = getExactly(opened.catalogue.sessions(), topic.id)
            return {
              session,
              path: topic.subagent === undefined ? session.path : subagentPath(session, topic.subagent),
            }
          }
          inner = subscribeToSession(topic, { ...how, keeper: opened, format, find })
        }
      }
      begin().catch((error: unknown) => {
        if (!closed) how.onError?.(error instanceof Error ? error : new Error(String(error)))
      })
      return {
        get cursor() {
          return inner === undefined ? how.cursor : inner.cursor
        },
        close() {
          closed = true
          inner?.close()
        },
      }
    },
    async pruneArchive(limits) {
      return (await keep()).archive.prune(limits)
    },
    async settled() {
      await keeper?.catalogue.settled()
      await (await keeper?.opening)?.settled()
    },
    async close() {
      sessionsTopic?.close()
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

function getExactly(sessions: readonly SessionSummary[], id: string): SessionSummary {
  return sessions.find((session) => session.id === id) ?? getSession(sessions, id)
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
