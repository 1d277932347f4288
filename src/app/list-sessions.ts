import { sep } from 'node:path'
import { createLedger, type SessionSummary, type SurveyResult } from '#model'
import type { Source } from '#sources'
import { isWithin, realPathOf } from './config.ts'
import { surveySession } from './survey-session.ts'
import type { Config, ListOptions, Problem, SessionList } from './throughline.ts'

/** Lists sessions, most recently active first. */
export async function listSessions(
  source: Source,
  config: Config,
  options: ListOptions,
): Promise<SessionList> {
  const listed = await source.list()
  const allowed = await onlyAllowed(source, listed.sessions, config.allowedRoots)
  const matching = allowed.filter((session) => matches(session, options)).toSorted(byActivity)
  const chosen = options.limit === undefined ? matching : matching.slice(0, options.limit)
  if (options.full !== true) return { sessions: chosen, problems: listed.problems }
  const full = await surveyAll(source, chosen, options.onProgress)
  return {
    sessions: full.sessions.toSorted(byActivity),
    usage: full.usage,
    problems: [...listed.problems, ...full.problems],
  }
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

function matches(session: SessionSummary, { workdir, text, live }: ListOptions): boolean {
  if (workdir !== undefined) {
    const root = realPathOf(workdir)
    if (!session.workdirs.some((path) => isWithin(path, [root]))) return false
  }
  if (
    live !== undefined &&
    (session.live === undefined || (live !== 'any' && session.live.status !== live))
  ) {
    return false
  }
  if (text === undefined) return true
  const wanted = text.toLowerCase()
  const places = [session.id, session.name, session.firstPrompt, ...session.workdirs]
  return places.some((place) => place?.toLowerCase().includes(wanted) === true)
}

/** Sessions without a time come last. */
function byActivity(a: SessionSummary, b: SessionSummary): number {
  const [left, right] = [a.lastActivityAt ?? '', b.lastActivityAt ?? '']
  if (left !== right) return left < right ? 1 : -1
  return a.id < b.id ? -1 : 1
}

async function surveyAll(
  source: Source,
  sessions: readonly SessionSummary[],
  onProgress: ListOptions['onProgress'],
): Promise<Required<SessionList>> {
  // A fork repeats messages of the session it came from: the older session is the one that was billed.
  const oldestFirst = sessions.toSorted(byCreation)
  const ledger = createLedger()
  const surveyed: SessionSummary[] = []
  const problems: Problem[] = []
  for (const [done, session] of oldestFirst.entries()) {
    onProgress?.(done, oldestFirst.length)
    if (session.state === 'unreadable') {
      surveyed.push(session)
      continue
    }
    try {
      const { result } = await surveySession(source, session, ledger)
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
  const [left, right] = [a.createdAt ?? '\uffff', b.createdAt ?? '\uffff']
  if (left !== right) return left < right ? -1 : 1
  return a.id < b.id ? -1 : 1
}

/** What a full read told, in the place of what a glance did. */
export function withFacts(
  session: SessionSummary,
  { facts, workdirs, customTitle, agentTitle }: SurveyResult,
): SessionSummary {
  const named = session.nameFrom === 'custom' ? undefined : (customTitle ?? agentTitle)
  const empty = facts.prompts === 0 && facts.replies === 0
  return {
    ...session,
    ...(named === undefined
      ? {}
      : { name: named, nameFrom: customTitle === undefined ? ('agent' as const) : ('custom' as const) }),
    workdirs,
    workdirsComplete: true,
    state: facts.damage.length > 0 ? 'damaged' : empty ? 'empty' : 'ok',
    facts,
  }
}
