import { findSessionJournal, readSessionJournal } from '#live'
import { OWN_NOTES, type Abilities, type EndReason, type SessionView } from '#model'

/** Ends that nobody has to be told of when they look at the session later. */
const EXPECTED: readonly EndReason[] = ['ended', 'idle', 'agent-closed']

/** Of an agent that is not there: whether it can go on is found out by asking it. */
const UNKNOWN: Abilities = {
  resume: true,
  fork: true,
  interrupt: true,
  editInput: false,
  denialWords: false,
  midTurn: false,
  images: true,
  writesTranscript: true,
}

/**
 * How the last run of a session ended, for those who look at it when it is not live: only when that was not as it
 * should be, or when prompts were left that nobody took.
 */
export async function findLastView(home: string, sessionId: string): Promise<SessionView | undefined> {
  const path = await findSessionJournal(home, sessionId)
  if (path === undefined) return undefined
  const { started, ended, prompts, mode, model, agentSessionId } = await readSessionJournal(path)
  if (started === undefined) return undefined
  const left = prompts.filter(({ state, by }) => state !== 'delivered' && by !== OWN_NOTES)
  // Without a word about its end, it died, and whoever finds it will write that down.
  const { reason, message } = ended ?? { reason: 'host-gone' as const, message: undefined }
  if (left.length === 0 && EXPECTED.includes(reason)) return undefined
  return {
    sessionId,
    run: started.run,
    seq: 0,
    pid: started.pid,
    agent: started.agent,
    can: UNKNOWN,
    workdir: started.workdir,
    startedAt: started.at,
    state: { state: 'ended', reason, ...(message === undefined ? {} : { message }) },
    mode: mode ?? started.mode,
    ...(model === undefined ? {} : { model }),
    ...(agentSessionId === undefined ? {} : { agentSessionId }),
    tools: [],
    commands: [],
    prompts: left.map(({ id, blocks = [], by, at, state }) => ({ id, blocks, by, at, state })),
    attentions: [],
  }
}
