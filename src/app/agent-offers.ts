import { string } from '#base'
import { describeAgents } from '#drivers'
import type { AgentOffer } from '#wire'
import { playgroundOf } from './folder-report.ts'
import type { LocalSettings } from './local-settings.ts'

/** The agents that a host can run, and what keeps some of them from running here. */
export function listAgents({
  home,
  env,
  settings,
}: {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly settings: LocalSettings
}): readonly AgentOffer[] {
  const found = describeAgents({
    searchPath: env['PATH'] ?? '',
    executableOf: (agent) => string(settings.agents[agent], 'executable'),
  })
  const modes = (['plan', 'default', 'accept-edits', 'bypass'] as const).filter(
    (mode) => mode !== 'bypass' || settings.widestMode === 'bypass',
  )
  return found.map((agent) => ({
    ...agent,
    modes,
    ...(agent.agent === 'scripted' ? { demoFolder: playgroundOf(home) } : {}),
  }))
}
