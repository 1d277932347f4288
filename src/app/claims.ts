import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionSummary } from '#model'
import type { SessionFiles, Source, SourceList } from '#sources'

/** Which sessions of an agent were run here, and under which ids of ours: `<home>/recorded/<agent>/names`. */
export interface Claims {
  /** Where they are noted. */
  readonly folder: string
  /** By the agent's own id. */
  all(): ReadonlyMap<string, Claim>
  /** Ids of ours that are shown from what the agent wrote itself, as of the last look at it. */
  readonly outrun: ReadonlySet<string>
  /** Notes which they are. */
  note(outrun: ReadonlySet<string>): void
}

interface Claim {
  /** Ours. Nothing: it was for a moment's use, and nobody is shown it. */
  readonly sessionId: string | undefined
  /** Nothing is recorded beside what the agent writes. */
  readonly isOwn: boolean
  /** Until when it was run here, in milliseconds. */
  readonly until: number
}

/** What an agent writes while it is being closed is not somebody else's. */
const GRACE_MS = 1_000

export function createClaims(home: string, agent: string): Claims {
  const folder = join(home, 'recorded', agent, 'names')
  const known = new Map<string, Claim>()
  let outrun: ReadonlySet<string> = new Set()

  function read(name: string): Claim | undefined {
    const path = join(folder, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    const before = known.get(name)
    if (before?.until === stats.mtimeMs) return before
    const [sessionId = '', how = ''] = readFileSync(path, 'utf8').split('\n')
    const claim = {
      sessionId: sessionId === '' ? undefined : sessionId,
      isOwn: how === 'own',
      until: stats.mtimeMs,
    }
    known.set(name, claim)
    return claim
  }

  return {
    folder,
    all() {
      const names = namesIn(folder)
      return new Map(
        names.flatMap((name) => {
          const claim = read(name)
          return claim === undefined ? [] : [[name, claim] as const]
        }),
      )
    },
    get outrun() {
      return outrun
    },
    note(next) {
      outrun = next
    },
  }
}

/**
 * What an agent wrote itself, with the ids of ours for sessions that were run here. Of one that is recorded here too the
 * recording is shown, and this only when the session has gone on elsewhere since.
 */
export function withClaims(source: Source, claims: Claims, home: string): Source {
  /** The agent's own ids, by the files of sessions that have one of ours. */
  const owns = new Map<string, string>()
  /** Where the sessions are that were run here, as of the last look. */
  let places = new Map<string, SessionFiles>()
  const lasts = new Map<string, { readonly size: number; readonly at: number }>()

  function lastOf(files: SessionFiles): number {
    const size = sizeOf(files.path)
    const before = lasts.get(files.path)
    if (before?.size === size) return before.at
    const at = Date.parse(source.look(files).lastActivityAt ?? '') || 0
    lasts.set(files.path, { size, at })
    return at
  }

  function isShown(files: SessionFiles, { sessionId, isOwn, until }: Claim): boolean {
    if (sessionId === undefined) return false
    if (isOwn) return true
    // While it is run nothing changes: what it is read from was decided when it began.
    if (isRun(home, sessionId)) return claims.outrun.has(sessionId)
    return lastOf(files) > until + GRACE_MS
  }

  function take(sessions: readonly SessionFiles[]): readonly SessionFiles[] {
    const all = claims.all()
    const outrun = new Set<string>()
    places = new Map()
    owns.clear()
    const shown = sessions.flatMap((files) => {
      const claim = all.get(files.id)
      if (claim === undefined) return [files]
      places.set(files.id, files)
      if (claim.sessionId === undefined || !isShown(files, claim)) return []
      outrun.add(claim.sessionId)
      owns.set(files.path, files.id)
      return [{ ...files, id: claim.sessionId }]
    })
    claims.note(outrun)
    return shown
  }

  function look(files: SessionFiles): SessionSummary {
    const own = owns.get(files.path)
    return own === undefined ? source.look(files) : { ...source.look({ ...files, id: own }), id: files.id }
  }

  async function find(): ReturnType<Source['find']> {
    const { sessions, problems } = await source.find()
    return { sessions: take(sessions), problems }
  }

  return {
    ...source,
    at: (root) => withClaims(source.at(root), { ...claims, note: () => undefined }, home),
    // What is noted a moment after the agent has begun to write changes what the session is called.
    folders: (under) => [
      ...source.folders(under),
      ...(existsSync(claims.folder) && (under === undefined || under === claims.folder)
        ? [claims.folder]
        : []),
    ],
    find,
    look,
    stamp(now) {
      const stamp = source.stamp(now)
      if (stamp === '') return ''
      const run = [...claims.all()].map(([id, { sessionId = '', isOwn, until }]) => {
        if (isRun(home, sessionId)) return `${id} ${isOwn}`
        const files = places.get(id)
        return `${id} ${until} ${files === undefined ? '' : sizeOf(files.path)}`
      })
      return [stamp, ...run].join('\n')
    },
    async list(): Promise<SourceList> {
      const { sessions, problems } = await source.list()
      const bySession = new Map(sessions.map((session) => [session.path, session]))
      const shown = take(sessions.map(({ id, path }) => ({ id, path })))
      return {
        sessions: shown.flatMap(({ id, path }) => {
          const session = bySession.get(path)
          return session === undefined ? [] : [session.id === id ? session : { ...session, id }]
        }),
        problems,
      }
    },
  }
}

/** Recordings, without those of sessions that have gone on elsewhere: there they are whole. */
export function withoutOutrun(source: Source, claims: Claims): Source {
  return {
    ...source,
    async find() {
      const { sessions, problems } = await source.find()
      return { sessions: sessions.filter(({ id }) => !claims.outrun.has(id)), problems }
    },
    async list() {
      const { sessions, problems } = await source.list()
      return { sessions: sessions.filter(({ id }) => !claims.outrun.has(id)), problems }
    },
  }
}

/** Whether a session has a host now. */
function isRun(home: string, sessionId: string): boolean {
  return existsSync(join(home, 'run', `${sessionId}.json`))
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^[\w-]+$/u.test(name))
  } catch {
    return []
  }
}
