import type { SessionSummary, SessionView } from '#model'
import { toDayName } from './age.ts'
import { toFolderName } from './folder-names.ts'
import type { Cards } from './shared.ts'

export type Grouping = 'workdir' | 'day'

/** A row of the sidebar: the head of a group, or a session. */
export type SidebarRow =
  | {
      readonly kind: 'head'
      readonly key: string
      readonly title: string
      readonly hint: string
      readonly count: number
    }
  | { readonly kind: 'session'; readonly key: string; readonly session: SessionSummary }

/** Sessions that match what was typed, in their groups; the group with the latest activity first, stars before all. */
export function toRows(
  sessions: readonly SessionSummary[],
  options: { readonly by: Grouping; readonly filter: string; readonly now: number },
): readonly SidebarRow[] {
  const words = options.filter.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = words.length === 0 ? sessions : sessions.filter((session) => matches(session, words))
  const groups = new Map<string, { title: string; hint: string; sessions: SessionSummary[] }>()
  for (const session of shown) {
    const { key, title, hint } = groupOf(session, options)
    const group = groups.get(key) ?? { title, hint, sessions: [] }
    groups.set(key, group)
    group.sessions.push(session)
  }
  const starred = groups.get(STARRED)
  groups.delete(STARRED)
  const ordered = [...(starred === undefined ? [] : [[STARRED, starred] as const]), ...groups]
  return ordered.flatMap(([key, group]): SidebarRow[] => [
    { kind: 'head', key: `head ${key}`, title: group.title, hint: group.hint, count: group.sessions.length },
    ...group.sessions.map((session): SidebarRow => ({ kind: 'session', key: session.id, session })),
  ])
}

const STARRED = '★'

function groupOf(
  session: SessionSummary,
  { by, now }: { readonly by: Grouping; readonly now: number },
): { readonly key: string; readonly title: string; readonly hint: string } {
  if (session.starred === true) return { key: STARRED, title: 'Starred', hint: '' }
  if (by === 'day') {
    const title = toDayName(session.lastActivityAt, now)
    return { key: title, title, hint: '' }
  }
  const workdir = workdirOf(session)
  return { key: workdir, title: toFolderName(workdir), hint: workdir }
}

/** Sessions that run and have written nothing yet stand before the others. */
export function withRunning(sessions: readonly SessionSummary[], board: Cards): readonly SessionSummary[] {
  const known = new Set(board.size === 0 ? [] : sessions.map(({ id }) => id))
  const young = [...board.values()].filter(
    ({ sessionId, where, state }) => where === 'here' && state.state !== 'ended' && !known.has(sessionId),
  )
  if (young.length === 0) return sessions
  return [...young.map(toYoungSession), ...sessions]
}

/** A session that nobody has written anything of yet. */
export function toYoungSession({
  sessionId,
  agent,
  workdir,
  startedAt,
}: Pick<SessionView, 'sessionId' | 'agent' | 'workdir' | 'startedAt'>): SessionSummary {
  return {
    id: sessionId,
    agent,
    path: '',
    size: 0,
    name: 'New session',
    workdirs: [workdir],
    workdirsComplete: true,
    createdAt: startedAt,
    lastActivityAt: startedAt,
    subagents: [],
    toolResults: [],
    archived: false,
    state: 'empty',
  }
}

/** Where a session was last at work. */
export function workdirOf(session: SessionSummary): string {
  return session.workdirs.at(-1) ?? ''
}

/** The name of a session, or what comes nearest to one. */
export function toTitle(session: Pick<SessionSummary, 'id' | 'name'>): string {
  const name = session.name?.trim()
  return name === undefined || name === '' ? `Session ${session.id.slice(-36).slice(0, 8)}` : name
}

function matches(session: SessionSummary, words: readonly string[]): boolean {
  const text =
    `${session.name ?? ''}\n${session.firstPrompt ?? ''}\n${session.workdirs.join('\n')}\n${session.id}\n${session.gitBranch ?? ''}\n${session.agent}\n${session.origin?.machine ?? ''}\n${session.origin?.person ?? ''}`.toLowerCase()
  return words.every((word) => text.includes(word))
}
