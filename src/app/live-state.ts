import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LiveState, SessionSummary, SessionView } from '#model'
import { isWithin } from './config.ts'
import type { Listed } from './list-sessions.ts'
import type { Config } from './throughline.ts'

/** Whether any host may run: whoever only lists does not look further when there is none. */
export function hasHosts(home: string): boolean {
  try {
    return readdirSync(join(home, 'run')).some((name) => /^[\w-]+\.json$/.test(name))
  } catch {
    return false
  }
}

/** A list with what is known of the sessions that are run here, also of those that have no transcript yet. */
export function withLiveSessions(
  listed: Listed,
  views: readonly SessionView[],
  { allowedRoots }: Pick<Config, 'allowedRoots'>,
): Listed {
  const shown = views.filter(({ state }) => state.state !== 'ended')
  if (shown.length === 0) return listed
  const byId = new Map(shown.flatMap((view) => namesOf(view).map((id) => [id, view] as const)))
  const known = listed.sessions.map((session) => {
    const view = byId.get(session.id)
    return view === undefined ? session : { ...session, live: toLiveState(view) }
  })
  const ids = new Set(known.map(({ id }) => id))
  const pending = shown
    .filter((view) => !namesOf(view).some((id) => ids.has(id)))
    .filter(({ workdir }) => allowedRoots.length === 0 || isWithin(workdir, allowedRoots))
    .map(toPending)
  return { ...listed, sessions: [...pending, ...known] }
}

/** Who goes on under another id has a transcript there; what is recorded for an agent stands under ours. */
function namesOf({ sessionId, agentSessionId }: SessionView): readonly string[] {
  return agentSessionId === undefined || agentSessionId === sessionId
    ? [sessionId]
    : [sessionId, agentSessionId]
}

/** What a list shows of a session that is run here. */
export function toLiveState({ state, pid, attentions }: SessionView): LiveState | undefined {
  const here = { pid, here: true } as const
  switch (state.state) {
    case 'pending':
    case 'running':
      return { ...here, status: 'busy' }
    case 'idle':
      return { ...here, status: 'idle' }
    case 'waiting':
      return {
        ...here,
        status: 'waiting',
        waitingFor: attentions[0]?.ask.kind === 'question' ? 'input needed' : 'permission prompt',
      }
    case 'ended':
      return ['host-gone', 'agent-crashed', 'agent-failed'].includes(state.reason)
        ? { ...here, status: 'gone' }
        : undefined
  }
}

/** A session that is run and has no transcript yet. */
export function toPending(view: SessionView): SessionSummary {
  return {
    id: view.sessionId,
    agent: view.agent,
    path: '',
    size: 0,
    workdirs: [view.workdir],
    workdirsComplete: true,
    createdAt: view.startedAt,
    lastActivityAt: view.startedAt,
    subagents: [],
    toolResults: [],
    live: toLiveState(view),
    archived: false,
    state: 'empty',
  }
}
