import { endProcesses, findAgentProcesses } from '#drivers'

const ROUNDS = 20

/**
 * Ends every process of the agent that runs a session, whoever started it and whatever became of its parent. Resolves
 * when none is left; rejects when some do not end.
 */
export async function sweepProcesses(sessionId: string): Promise<void> {
  // More than one round, because those that are ended may have started others meanwhile.
  for (let round = 0; round < ROUNDS; round++) {
    const found = findAgentProcesses(sessionId)
    if (found.length === 0) return
    await endProcesses(found, { graceMs: 0 })
  }
  throw new Error(`processes of ${sessionId} do not end`)
}
