import type { Abilities, PermissionMode } from '#model'
import { createAcpDriver } from './acp/acp-driver.ts'
import { KNOWN_AGENTS } from './acp/known-agents.ts'
import { createClaudeDriver } from './claude/claude-driver.ts'
import { hasSdk, installCommand } from './claude/sdk-place.ts'
import { MODE_MEANINGS } from './mode-meanings.ts'
import { findProgram, isProgram } from './program.ts'
import { SCRIPTED_ABILITIES } from './scripted/scripted-driver.ts'

/** An agent that there is a driver for. */
export interface DescribedAgent {
  readonly agent: string
  /** What it is called in a sentence. */
  readonly name: string
  readonly can: Abilities
  /** What each mode means with this agent, where that is not what its name says. */
  readonly modeWords?: Readonly<Record<PermissionMode, string>> | undefined
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
      modeWords: MODE_MEANINGS[agent],
      ...(isThere
        ? {}
        : { problem: { message: `${known.command} is not installed`, hint: `Run \`${install}\`.` } }),
    }
  })
  return [describeClaude(places), ...acp, { agent: 'scripted', name: 'Demo', can: SCRIPTED_ABILITIES }]
}

function describeClaude({ executableOf }: AgentPlaces): DescribedAgent {
  const base = {
    agent: 'claude',
    name: 'Claude Code',
    can: createClaudeDriver().can,
    modeWords: MODE_MEANINGS['claude'],
  }
  const executable = executableOf('claude')
  if (executable !== undefined && !isProgram(executable)) {
    const message = `${executable} is no program`
    return { ...base, problem: { message, hint: 'Correct `agents.claude.executable` in config.json.' } }
  }
  if (hasSdk(import.meta.url)) return base
  return {
    ...base,
    problem: {
      message: 'the Claude Agent SDK is not installed',
      hint: `Install it beside Throughline: \`${installCommand(import.meta.url)}\`.`,
    },
  }
}

function isInstalled(command: string, searchPath: string): boolean {
  return isProgram(command) || findProgram(command, { searchPath, workdir: '/nowhere' }) !== undefined
}
