import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Abilities } from '#model'
import { createAcpDriver } from './acp/acp-driver.ts'
import { KNOWN_AGENTS } from './acp/known-agents.ts'
import { createClaudeDriver } from './claude/claude-driver.ts'
import { findProgram, isProgram } from './program.ts'
import { SCRIPTED_ABILITIES } from './scripted/scripted-driver.ts'

/** An agent that there is a driver for. */
export interface DescribedAgent {
  readonly agent: string
  /** What it is called in a sentence. */
  readonly name: string
  readonly can: Abilities
  /** Why it cannot be run now, and what to do about it. Not there when nothing is known against it. */
  readonly problem?: { readonly message: string; readonly hint: string } | undefined
}

export interface AgentPlaces {
  readonly searchPath: string
  /** The program that was configured for an agent. */
  readonly executableOf: (agent: string) => string | undefined
}

/** Every agent that there is a driver for, and whether what it needs is there. Starts nothing. */
export function describeAgents(places: AgentPlaces): readonly DescribedAgent[] {
  const acp = Object.entries(KNOWN_AGENTS).map(([agent, known]): DescribedAgent => {
    const { title, install } = known
    const isThere = isInstalled(places.executableOf(agent) ?? known.command, places.searchPath)
    return {
      agent,
      name: title,
      can: createAcpDriver({ agent, ...known }).can,
      ...(isThere
        ? {}
        : { problem: { message: `${known.command} is not installed`, hint: `Run \`${install}\`.` } }),
    }
  })
  return [describeClaude(places), ...acp, { agent: 'scripted', name: 'Demo', can: SCRIPTED_ABILITIES }]
}

function describeClaude({ executableOf }: AgentPlaces): DescribedAgent {
  const base = { agent: 'claude', name: 'Claude Code', can: createClaudeDriver().can }
  const executable = executableOf('claude')
  if (executable !== undefined && !isProgram(executable)) {
    const message = `${executable} is no program`
    return { ...base, problem: { message, hint: 'Correct `agents.claude.executable` in config.json.' } }
  }
  const folders = createRequire(import.meta.url).resolve.paths(SDK) ?? []
  if (folders.some((folder) => existsSync(join(folder, SDK)))) return base
  return {
    ...base,
    problem: {
      message: 'the Claude Agent SDK is not installed',
      hint: `Install it beside Throughline: \`npm install -g ${SDK}\`.`,
    },
  }
}

const SDK = '@anthropic-ai/claude-agent-sdk'

function isInstalled(command: string, searchPath: string): boolean {
  return isProgram(command) || findProgram(command, { searchPath, workdir: '/nowhere' }) !== undefined
}
