import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { NATIVE_AGENTS, type NativeAgent } from '#model'

/** The program of opencode, which `npm test` fetches; tests that run it are skipped without it. */
export const OPENCODE: string =
  process.env['OPENCODE_PROGRAM'] ??
  join(import.meta.dirname, '../node_modules/.cache/opencode/node_modules/opencode-linux-x64/bin/opencode')

export const hasOpencode: boolean = existsSync(OPENCODE)

/** The agents that can be run here. */
export const AGENTS_HERE: readonly NativeAgent[] = NATIVE_AGENTS.filter(
  (agent) => agent !== 'opencode' || hasOpencode,
)
