import { list, object, string } from '#base'
import type { PermissionMode } from '#model'

/** A mode of the agent. */
export interface AgentMode {
  readonly id: string
  readonly name: string
  readonly description: string | undefined
}

/** The modes of a session, and how they are set: agents have them as modes, or as one of their options. */
export interface AgentModes {
  readonly current: string | undefined
  readonly available: readonly AgentMode[]
  /** The option that holds the mode, where it is one. */
  readonly configId: string | undefined
  /** Where planning is an option beside the modes: that option. Codex has it so. */
  readonly planning?: { readonly configId: string; readonly isOn: boolean } | undefined
}

const NO_MODES: AgentModes = { current: undefined, available: [], configId: undefined }

/** Names of modes that say what they do, without anything but letters and digits. */
const NAMES: Readonly<Record<Exclude<PermissionMode, 'bypass'>, readonly string[]>> = {
  default: ['default', 'ask', 'alwaysask', 'askalways', 'manual', 'normal', 'suggest', 'readonly', 'build'],
  'accept-edits': ['acceptedits', 'autoedit', 'autoedits', 'autoacceptedits', 'workspacewrite'],
  plan: ['plan', 'planmode', 'planning'],
}

const SKIPS =
  /bypass|yolo|full.?access|never.?ask|(?:do ?not|don.?t).?ask|auto.?(?:approve|review|run|pilot|accept|confirm)|skip|danger|unrestricted|unsafe|^auto$/iu
/** Of those, the ones in which nobody decides at all, and not something else than a person. */
const ALL = /bypass|yolo|full.?access|danger|unrestricted/iu
const SKIPS_IN_WORDS =
  /without (?:asking|approval|confirmation|prompting|permission)|no (?:approval|confirmation)|never asks?|unrestricted|approves? (?:all|every)|detected as/iu

/**
 * What a mode of the agent means here. One that decides in place of the person is `bypass`, whoever or whatever it lets
 * decide; one whose name says nothing is none.
 */
export function toMode(mode: AgentMode): PermissionMode | undefined {
  const names = [plain(mode.id), plain(mode.name)]
  for (const ours of ['default', 'accept-edits', 'plan'] as const)
    if (NAMES[ours].includes(names[0] ?? '')) return ours
  if (SKIPS.test(mode.id) || SKIPS.test(mode.name)) return 'bypass'
  for (const ours of ['default', 'accept-edits', 'plan'] as const)
    if (NAMES[ours].includes(names[1] ?? '')) return ours
  return SKIPS_IN_WORDS.test(mode.description ?? '') ? 'bypass' : undefined
}

/**
 * The agent's mode for one of ours. For `default` also the one that it is in, if nothing says that it asks nobody.
 */
export function findAgentMode(modes: AgentModes, mode: PermissionMode): AgentMode | undefined {
  const matching = modes.available.filter((each) => toMode(each) === mode)
  if (mode === 'bypass') return matching.find(({ id, name }) => ALL.test(`${id} ${name}`)) ?? matching[0]
  const [best] = matching.toSorted((a, b) => rank(a, NAMES[mode]) - rank(b, NAMES[mode]))
  if (best || mode !== 'default') return best
  return modes.available.find((each) => each.id === modes.current && toMode(each) === undefined)
}

function rank(mode: AgentMode, names: readonly string[]): number {
  const places = [names.indexOf(plain(mode.id)), names.indexOf(plain(mode.name))]
  return Math.min(...places.filter((place) => place >= 0))
}

/** Reads the modes of a session from what the agent said when it was opened, or said to have changed. */
export function readModes(value: unknown, before: AgentModes = NO_MODES): AgentModes {
  const planning = readPlanning(value) ?? before.planning
  return { ...readModeList(value, before), ...(planning === undefined ? {} : { planning }) }
}

function readModeList(value: unknown, before: AgentModes): AgentModes {
  const modes = object(value, 'modes')
  const option = list(value, 'configOptions').find((each) => string(each, 'category') === 'mode')
  if (modes)
    return {
      current: string(modes, 'currentModeId'),
      available: readAll(list(modes, 'availableModes'), 'id'),
      configId: undefined,
    }
  if (option === undefined) return before
  const current = string(option, 'currentValue') ?? before.current
  // Some agents have it both ways; then it is set as a mode.
  if (before.available.length > 0 && before.configId === undefined) return { ...before, current }
  return {
    current,
    available: readAll(readOptions(option), 'value'),
    configId: string(option, 'id'),
  }
}

function readPlanning(value: unknown): AgentModes['planning'] {
  const option = list(value, 'configOptions').find(
    (each) => string(each, 'category') === 'collaboration_mode',
  )
  const values = readOptions(option).map((each) => string(each, 'value'))
  const configId = string(option, 'id')
  if (configId === undefined || !values.includes(PLANNING) || !values.includes(NOT_PLANNING)) return undefined
  return { configId, isOn: string(option, 'currentValue') === PLANNING }
}

/** The values of the option for planning. */
export const PLANNING = 'plan'
export const NOT_PLANNING = 'default'

/** Options may stand in groups. */
export function readOptions(option: unknown): readonly unknown[] {
  return list(option, 'options').flatMap((each) => {
    const inner = list(each, 'options')
    return inner.length > 0 ? inner : [each]
  })
}

function readAll(values: readonly unknown[], key: string): readonly AgentMode[] {
  return values.flatMap((value) => {
    const id = string(value, key)
    if (id === undefined) return []
    return [{ id, name: string(value, 'name') ?? id, description: string(value, 'description') }]
  })
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/gu, '')
}
