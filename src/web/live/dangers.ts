import type { SettingsEffect } from '#model'

/** Things of one kind that a folder's settings do. */
export interface Danger {
  readonly kind: SettingsEffect['kind']
  readonly title: string
  /** What it means for the person. */
  readonly means: string
  readonly effects: readonly SettingsEffect[]
}

/** In the order of what they can do: first what runs by itself. */
const KINDS: readonly Omit<Danger, 'effects'>[] = [
  { kind: 'hook', title: 'Hooks', means: 'Commands that run by themselves, without asking you.' },
  {
    kind: 'mcp-server',
    title: 'MCP servers',
    means: 'Programs and addresses that the agent gets its tools from.',
  },
  { kind: 'command', title: 'Commands', means: 'Programs that the agent runs for its own needs.' },
  { kind: 'allow', title: 'Allowed without asking', means: 'What the agent may do without you.' },
  { kind: 'mode', title: 'How much it asks', means: 'Settings that change how much you are asked.' },
  { kind: 'environment', title: 'Environment', means: 'Values that programs of the agent are started with.' },
  { kind: 'instructions', title: 'Instructions', means: 'Text that the agent reads as its instructions.' },
  { kind: 'other', title: 'Other settings', means: 'Everything else that stands in these files.' },
]

/** What settings do, the most dangerous first. Nothing is left out, whatever it is. */
export function toDangers(effects: readonly SettingsEffect[]): readonly Danger[] {
  const rest = effects.filter((effect) => !KINDS.some(({ kind }) => kind === effect.kind))
  return KINDS.map((about) => ({
    ...about,
    effects: [...effects.filter(({ kind }) => kind === about.kind), ...(about.kind === 'other' ? rest : [])],
  })).filter((danger) => danger.effects.length > 0)
}
