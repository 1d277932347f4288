import type { EndReason, LiveState, SessionSummary } from '#model'

/** How a run ends that leaves nothing to look after. */
const ORDERLY: readonly EndReason[] = ['ended', 'idle', 'orphaned', 'agent-closed', 'host-stopped']

/** Which crashed sessions were resumed here since and then ended in order: their agent's registry does not say so. */
interface OrderlyEnds {
  /** Reads the journals of these sessions. Gives the ids of those whose end is new. */
  look(ids: readonly string[]): Promise<readonly string[]>
  /** What a list shows of the session: no crash that a later run has put right. */
  apply(id: string, live: LiveState | undefined): LiveState | undefined
}

function createOrderlyEnds(home: string): OrderlyEnds {
  const endedAt = new Map<string, string>()

  async function read(id: string): Promise<readonly string[]> {
    const { findSessionJournal, readSessionJournal } = await import('#live')
    const path = await findSessionJournal(home, id)
    const ended = path === undefined ? undefined : (await readSessionJournal(path)).ended
    if (ended === undefined || !ORDERLY.includes(ended.reason) || endedAt.get(id) === ended.at) return []
    endedAt.set(id, ended.at)
    return [id]
  }

  return {
    // What a journal that cannot be read would say is not known.
    look: async (ids) => (await Promise.all(ids.map((id) => read(id).catch(() => [])))).flat(),
    apply(id, live) {
      const ended = endedAt.get(id)
      const isOver = live?.status === 'gone' && ended !== undefined && (live.updatedAt ?? '') < ended
      return isOver ? undefined : live
    },
  }
}

/** The states of a registry without crashes that a later run here has put right. */
export function withoutMendedCrashes(
  home: string,
  registry: {
    readonly stateOf: (id: string) => LiveState | undefined
    readonly onChange: (ids: readonly string[]) => void
  },
): {
  readonly stateOf: (id: string) => LiveState | undefined
  readonly refresh: (ids: readonly string[]) => void
} {
  const ends = createOrderlyEnds(home)
  return {
    stateOf: (id) => ends.apply(id, registry.stateOf(id)),
    refresh(ids) {
      registry.onChange(ids)
      const crashed = ids.filter((id) => registry.stateOf(id)?.status === 'gone')
      void ends.look(crashed).then((ended) => ended.length > 0 && registry.onChange(ended))
    },
  }
}

/** Sessions from their files, without crashes that a later run here has put right. */
export async function dropMendedCrashes(
  sessions: readonly SessionSummary[],
  home: string,
): Promise<readonly SessionSummary[]> {
  const crashed = sessions.filter(({ live }) => live?.status === 'gone' && live.here !== true)
  if (crashed.length === 0) return sessions
  const ends = createOrderlyEnds(home)
  await ends.look(crashed.map(({ id }) => id))
  return sessions.map((session) => ({ ...session, live: ends.apply(session.id, session.live) }))
}
