import type { SessionSummary } from '#model'
import type { RestoreCalls } from '#wire'
import type { LineageLog } from './lineage-log.ts'
import { readEntries } from './session-entries.ts'

/** How forks are written and recorded. */
export interface Forks {
  /** Writes a fork without starting an agent. */
  readonly copy: RestoreCalls['copy']
  /** A session was forked by its agent. */
  readonly onForked: (session: SessionSummary, fork: ForkedAt) => Promise<void>
}

interface ForkedAt {
  readonly sessionId: string
  /** The last entry that was copied. */
  readonly at?: string | undefined
}

export function createForks(options: {
  readonly lineage: Pick<LineageLog, 'expect' | 'add'>
  readonly now: () => number
  readonly restoring: () => Promise<{ readonly calls: Pick<RestoreCalls, 'copy'> }>
}): Forks {
  const { lineage, now, restoring } = options
  return {
    copy: async (id, request) => await (await restoring()).calls.copy(id, request),
    onForked: async (session, fork) => await noteFork(lineage, session, { ...fork, now: now() }),
  }
}

/** Writes down that an agent forked a session: the fork is named after it. */
async function noteFork(
  lineage: Pick<LineageLog, 'expect' | 'add'>,
  session: SessionSummary,
  {
    sessionId,
    at,
    now,
  }: { readonly sessionId: string; readonly at?: string | undefined; readonly now: number },
): Promise<void> {
  const { id, agent } = session
  const descent = {
    kind: 'forked',
    at: new Date(now).toISOString(),
    from: { sessionId: id, agent },
    to: { sessionId, agent },
    until: (await timeOf(session, at)) ?? session.lastActivityAt,
  } as const
  lineage.expect(descent)
  await lineage.add(descent)
}

async function timeOf({ path }: SessionSummary, at: string | undefined): Promise<string | undefined> {
  if (at === undefined) return undefined
  return (await readEntries(path)).find(({ id }) => id === at)?.at
}
