import { isAbsolute } from 'node:path'
import type { StartOptions } from '../driver.ts'
import { findProgram, isProgram } from '../program.ts'
import { toMissing } from './acp-errors.ts'
import type { KnownAgent } from './known-agents.ts'

/** The program to run. A name is looked for where the person installs programs, and never in the project. */
export function getCommand(agent: KnownAgent, { env, workdir }: StartOptions): string {
  const { command } = agent
  const found = isAbsolute(command)
    ? isProgram(command)
      ? command
      : undefined
    : findProgram(command, { searchPath: env['PATH'] ?? '', workdir })
  if (found === undefined) throw toMissing(agent, command)
  return found
}
