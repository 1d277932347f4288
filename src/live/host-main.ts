/**
 * The process of a host. See `runHost`.
 *
 *     node host-main.js < order
 */
import { join } from 'node:path'
import { list, string, type JsonObject } from '#base'
import {
  createAcpDriver,
  createClaudeDriver,
  createScriptedDriver,
  KNOWN_AGENTS,
  type Driver,
} from '#drivers'
import { runHost } from './host-entry.ts'

const now = (): number => Date.now()

/** A known agent, run by its usual command or by the one that is configured. */
function openAcp(agent: keyof typeof KNOWN_AGENTS, settings: JsonObject | undefined): Promise<Driver> {
  const known = KNOWN_AGENTS[agent]
  const args = list(settings, 'args').filter((arg) => typeof arg === 'string')
  const isGiven = Array.isArray(settings?.['args'])
  const command = string(settings, 'executable') ?? known.command
  return Promise.resolve(createAcpDriver({ ...known, agent, command, args: isGiven ? args : known.args }))
}

await runHost({
  now,
  drivers: {
    claude: ({ settings }) =>
      Promise.resolve(createClaudeDriver({ executable: string(settings, 'executable') })),
    codex: ({ settings }) => openAcp('codex', settings),
    gemini: ({ settings }) => openAcp('gemini', settings),
    opencode: ({ settings }) => openAcp('opencode', settings),
    scripted: ({ home, settings }) =>
      Promise.resolve(
        createScriptedDriver({ transcripts: string(settings, 'transcripts') ?? join(home, 'scripted'), now }),
      ),
  },
})
// Whatever a driver left open must not keep it alive: its session is over, and all of it is on disk.
process.exit()
