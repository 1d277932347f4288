import type { AgentFact, Driver, RunningAgent, StartOptions } from './driver.ts'
import { findProcesses } from './process-tree.ts'
import { createToolProcesses } from './tool-processes.ts'
import { within } from './within.ts'

/** How long an agent that is interrupted may take to end its turn before its tools are ended for it. */
const TURN_MS = 2_000

/**
 * A driver whose interrupted turns leave no tool running. Most agents end the tool that runs; some return from the turn
 * and let it run on, and none of them ends what has left its parent. The turn is over when all of it is gone.
 */
export function toStoppingDriver(driver: Driver): Driver {
  return { ...driver, start: (options) => start(driver, options) }
}

async function start(driver: Driver, options: StartOptions): Promise<RunningAgent> {
  let agent: RunningAgent | undefined
  const tools = createToolProcesses(() => findProcesses(agent?.pids() ?? []))
  let isStopping = false
  let endTurn: (() => void) | undefined
  let turnOver = Promise.resolve()
  /** What is told while tools are being ended, in order. */
  let held: AgentFact[] | undefined

  function tell(fact: AgentFact): void {
    // What an agent says of a call that it breaks off does not mean that all of it has ended.
    if (!isStopping || fact.kind !== 'message' || fact.role !== 'tool') tools.hear(fact)
    if (fact.kind === 'turn.started') {
      turnOver = new Promise((resolve) => (endTurn = resolve))
      tools.begin()
    }
    if (fact.kind === 'turn.ended') {
      isStopping = false
      tools.forget()
    }
    options.onFact(fact)
  }

  async function endTools(): Promise<void> {
    await tools.end()
    const facts = held ?? []
    held = undefined
    for (const fact of facts) hear(fact)
  }

  function hear(fact: AgentFact): void {
    if (held !== undefined) return void held.push(fact)
    const isStopped = fact.kind === 'turn.ended' && (isStopping || fact.outcome.kind === 'interrupted')
    if (fact.kind === 'turn.ended' || fact.kind === 'ended') endTurn?.()
    if (!isStopped || !tools.isRunning()) return tell(fact)
    held = [fact]
    void endTools()
  }

  const running = await driver.start({ ...options, onFact: hear })
  agent = running
  return {
    ...running,
    async interrupt() {
      isStopping = true
      await running.interrupt()
      const isOver = await within(TURN_MS, turnOver)
      if (!isOver) await tools.end()
    },
  }
}
