/**
 * The process of a host. See `runHost`.
 *
 *     node host-main.js < order
 */
import { join } from 'node:path'
import { string } from '#base'
import { createConfiguredDriver, createScriptedDriver } from '#drivers'
import { runHost } from './host-entry.ts'

const now = (): number => Date.now()

await runHost({
  now,
  drivers: {
    claude: ({ settings }) => Promise.resolve(createConfiguredDriver('claude', settings)),
    codex: ({ settings }) => Promise.resolve(createConfiguredDriver('codex', settings)),
    gemini: ({ settings }) => Promise.resolve(createConfiguredDriver('gemini', settings)),
    opencode: ({ settings }) => Promise.resolve(createConfiguredDriver('opencode', settings)),
    scripted: ({ home, settings }) =>
      Promise.resolve(
        createScriptedDriver({ transcripts: string(settings, 'transcripts') ?? join(home, 'scripted'), now }),
      ),
  },
})
// Whatever a driver left open must not keep it alive: its session is over, and all of it is on disk.
process.exit()
