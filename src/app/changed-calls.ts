import { stat } from 'node:fs/promises'
import { findSessionJournal, readSessionJournal } from '#live'
import type { ChangedCall } from '#model'

/** Which calls of a session a person changed before they allowed them. The agent's transcript does not say so. */
export interface ChangedCalls {
  /** By the id of the call, also those of the sessions that this one is a copy of. */
  find(sessionId: string): Promise<Changes>
}

export type Changes = ReadonlyMap<string, ChangedCall>

interface Known {
  readonly path: string
  readonly size: number
  readonly changes: Changes
  /** The session that this one began with a copy of, or goes on with. */
  readonly before: string | undefined
}

const NONE: Changes = new Map()
/** A fork of a fork of a fork has calls of all of them. */
const DEEPEST = 20
const KEPT = 200

/**
 * Reads it from the journals of sessions that were run here, each again when it has grown. `originOf` knows what a
 * session was copied from.
 */
export function createChangedCalls(
  home: string,
  originOf: (sessionId: string) => string | undefined,
): ChangedCalls {
  const known = new Map<string, Known>()

  async function read(sessionId: string): Promise<Known | undefined> {
    const before = known.get(sessionId)
    const path = before?.path ?? (await findSessionJournal(home, sessionId))
    const size = path === undefined ? undefined : (await stat(path).catch(() => undefined))?.size
    if (path === undefined || size === undefined) return undefined
    if (before?.size === size) return before
    const { changedCalls, started } = await readSessionJournal(path)
    const changes = new Map(changedCalls.map((call) => [call.toolUseId, call]))
    const now = { path, size, changes, before: started?.resumed }
    known.delete(sessionId)
    known.set(sessionId, now)
    const [oldest] = known.keys()
    if (known.size > KEPT && oldest !== undefined) known.delete(oldest)
    return now
  }

  async function find(sessionId: string): Promise<Changes> {
    let changes = NONE
    let at: string | undefined = sessionId
    const seen = new Set<string>()
    while (at !== undefined && !seen.has(at) && seen.size < DEEPEST) {
      seen.add(at)
      const journal: Known | undefined = await read(at)
      if (journal && journal.changes.size > 0) changes = new Map([...journal.changes, ...changes])
      // A fork that we wrote is no run, and its first run goes on with the fork itself.
      at = journal?.before === undefined || journal.before === at ? originOf(at) : journal.before
    }
    return changes
  }

  return { find: async (sessionId) => await find(sessionId).catch(() => NONE) }
}
