import { list, string, type JsonObject } from '#base'
import { createAcpDriver } from './acp/acp-driver.ts'
import { KNOWN_AGENTS } from './acp/known-agents.ts'
import { createClaudeDriver } from './claude/claude-driver.ts'
import type { Driver } from './driver.ts'

/** The agents that are run as programs of their own. */
export type ConfiguredAgent = 'claude' | keyof typeof KNOWN_AGENTS

/** An agent, run by its usual command or by the one that is configured: `executable`, `args`. */
export function createConfiguredDriver(agent: ConfiguredAgent, settings: JsonObject | undefined): Driver {
  const executable = string(settings, 'executable')
  if (agent === 'claude') return createClaudeDriver({ executable })
  const known = KNOWN_AGENTS[agent]
  const args = list(settings, 'args').filter((arg) => typeof arg === 'string')
  const isGiven = Array.isArray(settings?.['args'])
  return createAcpDriver({
    ...known,
    agent,
    command: executable ?? known.command,
    args: isGiven ? args : known.args,
  })
}

/** Whether an agent of this name is run as a program of its own. */
export function isConfiguredAgent(agent: string): agent is ConfiguredAgent {
  return agent === 'claude' || Object.hasOwn(KNOWN_AGENTS, agent)
}
