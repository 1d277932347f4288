import { setTimeout } from 'node:timers/promises'
import { ThroughlineError } from '#base'
import type { Owner } from '#live'
import { lifeOf, type Holder, type Registry, type Source } from '#sources'

const PAUSE_MS = 50
const POLITE_MS = 5_000
const LAST_MS = 2_000

/** Who else holds a session, as the registry of its agent has it. A process that is dead holds nothing. */
export function findHolder(registry: Registry | undefined, sessionId: string): Holder | undefined {
  return registry
    ?.read()
    .holders.find((holder) => holder.sessionId === sessionId && lifeOf(holder) !== 'dead')
}

/** The registries of all agents as one, with ids of ours for sessions that were run here. */
export function toJointRegistry(
  sources: readonly Pick<Source, 'registry' | 'root'>[],
  ours: () => ReadonlyMap<string, string>,
): Registry {
  return {
    dir: sources[0]?.root ?? '',
    read() {
      const all = sources.flatMap(({ registry }) => registry?.read() ?? [])
      const names = ours()
      const holders = all.flatMap(({ holders: some }) =>
        some.map((holder) => ({ ...holder, sessionId: names.get(holder.sessionId) ?? holder.sessionId })),
      )
      return { holders, unreadable: all.flatMap(({ unreadable }) => unreadable) }
    },
  }
}

/** The same, in words for a person. */
export function toOwner({ pid, status }: Holder): Owner {
  const what = status === 'idle' || status === 'unknown' ? '' : `, which is ${status}`
  return { pid, words: `an agent that somebody else started${what}` }
}

/**
 * Ends the process that holds a session, as its own person would: it is asked first. Resolves when it is gone; rejects
 * with `session-held` when it does not go, or cannot be reached from here.
 */
export async function endHolder(registry: Registry | undefined, sessionId: string): Promise<void> {
  const holder = findHolder(registry, sessionId)
  if (holder === undefined) return
  if (lifeOf(holder) === 'elsewhere') throw stays(holder, 'it runs in another container')
  for (const [signal, patience] of [
    ['SIGTERM', POLITE_MS],
    ['SIGKILL', LAST_MS],
  ] as const) {
    send(holder, signal)
    for (let waited = 0; waited < patience; waited += PAUSE_MS) {
      if (lifeOf(holder) === 'dead') return
      await setTimeout(PAUSE_MS)
    }
  }
  throw stays(holder, 'it does not end')
}

/** Looked at right before: a number may belong to another process by now. */
function send(holder: Holder, signal: NodeJS.Signals): void {
  if (lifeOf(holder) !== 'alive') return
  try {
    process.kill(holder.pid, signal)
  } catch {
    // Gone in this moment, or not ours to end: the wait tells.
  }
}

function stays({ pid }: Holder, why: string): ThroughlineError {
  return new ThroughlineError('session-held', `process ${pid} holds the session, and ${why}`, {
    hint: 'End it where it runs, or fork the session.',
  })
}
