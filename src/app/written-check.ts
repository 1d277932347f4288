import { ThroughlineError } from '#base'
import type { Entry } from '#model'
import { toSaid, type Said } from '#restore'
import type { ConvertOutcome } from '#wire'

/** Reads a session as its agent keeps it; nothing when it is not found there. */
export type ReadWritten = (sessionId: string) => Promise<readonly Entry[] | undefined>

/**
 * Reads a session back that was written for an agent. Throws `history-not-loaded` when less of the conversation is in it
 * than was to be written, beyond what is among the losses: whoever goes on with it would go on with less.
 */
export async function checkWritten(
  { agent, sessionId, losses }: ConvertOutcome,
  said: Said,
  read: ReadWritten,
): Promise<void> {
  const entries = await read(sessionId)
  if (entries === undefined) throw notWhole(`it is not where ${agent} keeps its sessions`, sessionId)
  const wanted = amountsOf(said)
  const found = amountsOf(toSaid(entries))
  const missing = [
    ['prompts', wanted.prompts - losses.length, found.prompts],
    ['calls', wanted.calls, found.calls],
    ['results', wanted.results, found.results],
  ] as const
  for (const [what, least, there] of missing) {
    if (there < least) throw notWhole(`it has ${there} ${what}, and not ${least}`, sessionId)
  }
  if (wanted.prompts > 0 && found.prompts === 0) throw notWhole('nobody says anything in it', sessionId)
}

interface Amounts {
  readonly prompts: number
  readonly calls: number
  readonly results: number
}

function amountsOf({ messages }: Said): Amounts {
  const blocks = messages.flatMap(({ role, blocks: said }) => said.map(({ block }) => ({ role, block })))
  const count = (isCounted: (each: (typeof blocks)[number]) => boolean): number =>
    blocks.filter(isCounted).length
  return {
    prompts: messages.filter(
      ({ role, blocks: said }) => role === 'user' && said.some(({ block }) => block.kind === 'text'),
    ).length,
    calls: count(({ block }) => block.kind === 'tool-use'),
    results: count(({ block }) => block.kind === 'tool-result'),
  }
}

function notWhole(why: string, sessionId: string): ThroughlineError {
  return new ThroughlineError(
    'history-not-loaded',
    `session ${sessionId} was written, but does not hold it all: ${why}`,
    { hint: 'Do not go on in it. The original is as it was: go on with that, or in another agent.' },
  )
}
