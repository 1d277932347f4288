import { join, sep } from 'node:path'
import { ThroughlineError } from '#base'
import {
  addUsage,
  byActivity,
  createLedger,
  factsToCounts,
  isLive,
  isMereCopy,
  NO_USAGE,
  ownSince,
  toCopyName,
  type CopiedFrom,
  type LiveState,
  type SessionSummary,
  type SurveyResult,
} from '#model'
import type { SessionIndex } from '#ingest'
import type { Source, SourceList } from '#sources'
import type { ListOptions, Problem, SessionList } from '#wire'
import { isWithin, realPathOf } from './config.ts'
import type { Sources } from './open-sources.ts'
import { toBilled } from './samples-apart.ts'
import { surveySession } from './survey-session.ts'
import type { Config } from './throughline.ts'

/** What there is to list, and where it comes from. */
export interface Listed {
  readonly sessions: readonly SessionSummary[]
  readonly problems: readonly Problem[]
  /** Recordings that are not listed, each with the session it is of, which is. */
  readonly doubles?: ReadonlyMap<string, string>
  /** Copies that are not listed, because nothing was said in them that their originals do not have. */
  readonly copies?: readonly SessionSummary[]
}

/** What is known of sessions from elsewhere than their files. */
export interface KnownOf {
  /** What a session was made of. */
  readonly copyOf: (id: string) => CopiedFrom | undefined
  /** What a session is doing that is run here. */
  readonly liveOf: (id: string) => LiveState | undefined
}

/**
 * Looks at every session's file. Shows only those that may be shown, and of a session that is known itself no
 * recording and no mere copy beside it.
 */
export async function lookAtSessions(sources: Sources, config: Config, known: KnownOf): Promise<Listed> {
  const look = async (from: Source): Promise<SourceList> => {
    const { sessions, problems } = await from.list()
    return { sessions: await onlyAllowed(from, sessions, config.allowedRoots), problems }
  }
  const { sessions, problems } = await look(sources.own)
  const samples = (await sources.samples.list()).sessions
  // What agents wrote says which recordings are behind it.
  const elsewhere = await Promise.all(sources.others.map(look))
  const recorded = await Promise.all(sources.recorded.map(look))
  const written = new Set(sessions.map(({ id }) => id))
  const own = [
    ...sessions,
    ...samples,
    ...elsewhere.flatMap((from) => from.sessions),
    ...recorded.flatMap((from) => from.sessions).filter(({ id }) => !written.has(id)),
  ]
  sources.folders.look(own.flatMap(({ workdirs }) => workdirs))
  const beside = await look(sources.beside)
  const ids = new Set(own.map(({ id }) => id))
  const doubles = new Map(sources.claimed())
  const others = beside.sessions.filter(({ id, recorded: { of = '' } = {} }) => {
    if (ids.has(of)) doubles.set(id, of)
    return !ids.has(id) && !ids.has(of)
  })
  return {
    ...withoutCopies([...own, ...others].toSorted(byActivity), known),
    problems: [...problems, ...elsewhere.flatMap((from) => from.problems), ...beside.problems],
    doubles,
  }
}

/** Sessions with what they were made of, and apart from them those that say nothing that their originals do not. */
function withoutCopies(
  sessions: readonly SessionSummary[],
  { copyOf, liveOf }: KnownOf,
): Required<Pick<Listed, 'sessions' | 'copies'>> {
  const names = new Map(sessions.map(({ id, name }) => [id, name]))
  const all = sessions.map((session) => {
    const copied = copyOf(session.id) ?? session.copiedFrom
    if (copied === undefined) return session
    const called = names.get(copied.id)
    const copiedFrom = names.has(copied.id) ? { ...copied, here: true as const, name: called } : copied
    const name = toCopyName(session, copiedFrom, called)
    return { ...session, copiedFrom, ...(name === undefined ? {} : { name }) }
  })
  const byId = new Map(all.map((session) => [session.id, session]))
  const withLive = (session: SessionSummary): SessionSummary => ({
    ...session,
    live: liveOf(session.id) ?? session.live,
  })
  const mere = new Set(
    all.filter(
      (session) =>
        session.copiedFrom !== undefined &&
        isMereCopy(withLive(session), (id) => {
          const origin = byId.get(id)
          return origin && withLive(origin)
        }),
    ),
  )
  return { sessions: all.filter((session) => !mere.has(session)), copies: [...mere] }
}

/** Chooses from sessions that are in the order of their activity, most recent first. */
export async function listSessions(
  listed: Listed,
  { source, config, ledger }: ListContext,
  options: ListOptions,
): Promise<SessionList> {
  const matching = isPlain(options)
    ? listed.sessions
    : listed.sessions.filter((session) => matches(session, options))
  const rest = options.cursor === undefined ? matching : afterCursor(matching, options.cursor)
  const chosen = options.limit === undefined ? rest : rest.slice(0, options.limit)
  const last = chosen.at(-1)
  const next = last === undefined || chosen.length === rest.length ? {} : { next: toCursor(last) }
  const looked = { lookedIn: [join(source.root, 'projects')], allowedRoots: config.allowedRoots }
  if (options.full !== true) return { sessions: chosen, ...looked, problems: listed.problems, ...next }
  const full = ledger === undefined ? await surveyAll(chosen, options.onProgress) : await ledger(chosen)
  return {
    sessions: full.sessions.toSorted(byActivity),
    usage: full.usage,
    ...looked,
    problems: [...listed.problems, ...full.problems],
    ...next,
  }
}

export interface ListContext {
  readonly source: Source
  readonly config: Config
  /** Knows what the sessions amount to without reading them. */
  readonly ledger?: (
    sessions: readonly SessionSummary[],
  ) => Promise<Required<Pick<SessionList, 'sessions' | 'usage' | 'problems'>>>
}

function isPlain({ agent, workdir, text, live, starred }: ListOptions): boolean {
  return [agent, workdir, text, live, starred].every((option) => option === undefined)
}

function toCursor({ id, lastActivityAt = '' }: SessionSummary): string {
  return `${lastActivityAt} ${id}`
}

function afterCursor(sessions: readonly SessionSummary[], cursor: string): readonly SessionSummary[] {
  const match = /^(\S*) ([\w-]{1,128})$/.exec(cursor)
  const [, lastActivityAt, id] = match ?? []
  if (id === undefined) {
    throw new ThroughlineError('request-invalid', `${JSON.stringify(cursor.slice(0, 80))} is not a cursor`, {
      hint: 'Give the `next` of a list as it is.',
    })
  }
  const place = { id, lastActivityAt: lastActivityAt === '' ? undefined : lastActivityAt }
  return sessions.filter((session) => byActivity(place, session) < 0)
}

/** Sessions that worked nowhere but inside the roots. One whose working directories are unknown is not shown. */
async function onlyAllowed(
  source: Source,
  sessions: readonly SessionSummary[],
  roots: readonly string[],
): Promise<readonly SessionSummary[]> {
  if (roots.length === 0) return sessions
  const allowed: SessionSummary[] = []
  for (const session of sessions) {
    if (!session.workdirs.every((workdir) => isWithin(workdir, roots))) continue
    // What a glance did not see may lie outside.
    const workdirs = session.workdirsComplete ? session.workdirs : await workdirsOf(source, session.path)
    const [first] = workdirs
    if (first === undefined || !workdirs.every((workdir) => isWithin(workdir, roots))) continue
    const delegated = await Promise.all(session.subagents.map(({ path }) => workdirsOf(source, path)))
    if (delegated.flat().every((workdir) => isWithin(workdir, roots))) {
      allowed.push({ ...session, workdirs, workdirsComplete: true })
    }
  }
  return allowed
}

/** Of a file that cannot be read nothing is known, so nothing of it is shown: the root of all folders is in no root. */
async function workdirsOf(source: Source, path: string): Promise<readonly string[]> {
  try {
    return await source.findWorkdirs(path)
  } catch {
    return [sep]
  }
}

function matches(session: SessionSummary, { agent, workdir, text, live, starred }: ListOptions): boolean {
  if (agent !== undefined && session.agent !== agent) return false
  if (starred !== undefined && (session.starred ?? false) !== starred) return false
  if (workdir !== undefined) {
    const root = realPathOf(workdir)
    if (!session.workdirs.some((path) => isWithin(path, [root]))) return false
  }
  if (live !== undefined && (live === 'any' ? !isLive(session.live) : session.live?.status !== live)) {
    return false
  }
  if (text === undefined) return true
  const wanted = text.toLowerCase()
  const places = [session.id, session.name, session.firstPrompt, ...session.workdirs]
  return places.some((place) => place?.toLowerCase().includes(wanted) === true)
}

async function surveyAll(
  sessions: readonly SessionSummary[],
  onProgress: ListOptions['onProgress'],
): Promise<Required<Pick<SessionList, 'sessions' | 'usage' | 'problems'>>> {
  // A fork repeats messages of the session it came from: the older session is the one that was billed.
  const oldestFirst = sessions.toSorted(byCreation)
  const [ledger, ofOthers] = [createLedger(), createLedger()]
  const billed = new Set(toBilled(sessions).billed)
  const surveyed: SessionSummary[] = []
  const problems: Problem[] = []
  for (const [done, session] of oldestFirst.entries()) {
    onProgress?.(done, oldestFirst.length)
    if (session.state === 'unreadable') {
      surveyed.push(session)
      continue
    }
    try {
      const { result } = await surveySession(session, billed.has(session) ? ledger : ofOthers)
      surveyed.push(withFacts(session, result))
    } catch (error) {
      surveyed.push(session)
      problems.push({
        path: session.path,
        message: error instanceof Error ? error.message : String(error),
        hint: 'The session is listed without its facts. List again to see whether it was only busy.',
      })
    }
  }
  onProgress?.(oldestFirst.length, oldestFirst.length)
  return { sessions: surveyed, usage: ledger.total(), problems }
}

function byCreation(a: SessionSummary, b: SessionSummary): number {
  const [left, right] = [ownSince(a) ?? '\uffff', ownSince(b) ?? '\uffff']
  if (left !== right) return left < right ? -1 : 1
  return a.id < b.id ? -1 : 1
}

/** What a full read told, in the place of what a glance did. */
export function withFacts(
  session: SessionSummary,
  { facts, workdirs, customTitle, agentTitle }: SurveyResult,
): SessionSummary {
  const named =
    session.nameFrom === 'custom' || session.nameFrom === 'person' ? undefined : (customTitle ?? agentTitle)
  const empty = facts.prompts === 0 && facts.replies === 0
  return {
    ...session,
    ...(named === undefined
      ? {}
      : { name: named, nameFrom: customTitle === undefined ? ('agent' as const) : ('custom' as const) }),
    workdirs,
    workdirsComplete: true,
    state: facts.damage.length > 0 ? 'damaged' : empty ? 'empty' : 'ok',
    counts: factsToCounts(facts),
    facts,
  }
}

/** With an index every session's counts are at hand, and of every message which session was billed for it. */
export function fromIndex(index: Pick<SessionIndex, 'usage'>): NonNullable<ListContext['ledger']> {
  return async (sessions) => {
    const { billed: own, leftOut } = toBilled(sessions)
    const ids = new Set(own.map(({ id }) => id))
    // An index that cannot be asked right now is no reason to list nothing: then it is what the sessions say.
    const report = await index.usage({ by: 'session' }, leftOut).catch(() => undefined)
    const billed = report?.rows.filter(({ key }) => ids.has(key)) ?? own.flatMap(({ counts }) => counts ?? [])
    return { sessions, usage: billed.reduce((sum, row) => addUsage(sum, row.usage), NO_USAGE), problems: [] }
  }
}
