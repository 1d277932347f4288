import type { Ask, Resolution } from '#model'
import type { StartOptions } from './driver.ts'

/**
 * Asks a person. Nothing comes back when nobody can be asked and when the agent stopped waiting: then nobody waits for
 * the answer any longer, and one that comes late is not heard.
 */
export function askPerson(
  ask: StartOptions['ask'],
  what: Ask,
  signal: AbortSignal,
): Promise<Resolution | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve) => {
    const none = (): void => resolve(undefined)
    signal.addEventListener('abort', none, { once: true })
    ask(what, signal)
      .then((resolution) => resolve(signal.aborted ? undefined : resolution), none)
      .finally(() => signal.removeEventListener('abort', none))
  })
}

/** The reason with which an ask is aborted when the agent itself is gone, and did not only stop waiting. */
export const AGENT_GONE = 'agent-gone'
