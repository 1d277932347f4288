import { ThroughlineError } from '#base'
import type { SessionState } from '#model'
import type { AgentOffer } from '#wire'
import type { Board } from './board.ts'

/** Refuses an agent whose program is missing: nothing is begun, and nothing is left of the attempt. */
export function checkInstalled(offers: readonly AgentOffer[], agent: string): void {
  const problem = offers.find((offer) => offer.agent === agent)?.problem
  if (problem !== undefined) throw new ThroughlineError('driver-unavailable', problem.message, problem)
}

/** What is said of a session that takes nothing, with the reason of its end where that is known. */
export function notLive(id: string, state: SessionState | undefined): ThroughlineError {
  const { message, hint = 'Resume it, or begin a new one.' } =
    state?.state === 'ended' ? state : { message: undefined }
  const why = message === undefined ? '' : `: ${message}`
  return new ThroughlineError('session-ended', `session ${id} is not live${why}`, { hint })
}

/** How long the end of a session may take to be heard of. */
const END_MS = 5_000
const LOOK_MS = 20

/**
 * Does something with a session that was just begun. When the session ends instead, it rejects with the reason of that,
 * not with what came of it; of a session whose agent never started nothing stays on the board.
 */
export async function withReason<T>(
  board: Pick<Board, 'find' | 'remove'>,
  sessionId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ThroughlineError) || !isOver(error)) throw error
    const state = await untilEnded(board, sessionId)
    if (state === undefined || state.message === undefined) throw error
    const { reason, message, hint = error.hint } = state
    if (reason !== 'start-failed') throw notLive(sessionId, state)
    board.remove(sessionId)
    throw new ThroughlineError('driver-unavailable', message, { hint, cause: error })
  }
}

function isOver({ code }: ThroughlineError): boolean {
  return code === 'session-ended' || code === 'host-unreachable'
}

async function untilEnded(
  board: Pick<Board, 'find'>,
  sessionId: string,
): Promise<Extract<SessionState, { readonly state: 'ended' }> | undefined> {
  for (let waited = 0; waited < END_MS; waited += LOOK_MS) {
    const state = board.find(sessionId)?.state
    if (state === undefined) return undefined
    if (state.state === 'ended') return state
    await new Promise<void>((resolve) => void setTimeout(resolve, LOOK_MS))
  }
  return undefined
}
