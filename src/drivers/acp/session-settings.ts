import { list, string, ThroughlineError } from '#base'
import type { Abilities, AgentModel, PermissionMode } from '#model'
import type { AgentFact, StartOptions } from '../driver.ts'
import type { AcpConnection } from './acp-connection.ts'
import { toUnable } from './acp-errors.ts'
import { enterMode, offeredModes, readModels, type OpenedSession } from './acp-session.ts'
import type { KnownAgent } from './known-agents.ts'
import { readCommands } from './read-update.ts'
import { readModes, toMode, type AgentModes } from './session-modes.ts'

/** The mode, the model and the commands of a session, as the agent has them and as we asked for them. */
export interface SessionSettings {
  /** Puts a session that was opened into the mode and the model that it was started with, and tells of it. */
  begin(opened: OpenedSession, can: Abilities): Promise<void>
  /** Reads an update about settings. Says whether it was one. */
  hear(update: unknown): boolean
  setMode(mode: PermissionMode): Promise<void>
  setModel(model: string): Promise<void>
  /** Whether the mode approves a call of this kind in place of the agent, which has no such mode. */
  approves(kind: string): boolean
}

export function createSessionSettings(parts: {
  readonly agent: KnownAgent
  readonly start: Pick<StartOptions, 'mode' | 'model'>
  readonly connection: () => AcpConnection
  readonly tell: (fact: AgentFact) => void
}): SessionSettings {
  const { agent, start, tell } = parts
  let session: OpenedSession | undefined
  let abilities: Abilities | undefined
  let commands: readonly string[] = []
  let { mode } = start
  /** Modes of the agent that were entered for one of ours, whatever their names say. */
  const entered = new Map<string, PermissionMode>()

  function tellStarted(): void {
    if (!session) return
    const { sessionId, models } = session
    tell({
      kind: 'started',
      sessionId,
      model: models?.current,
      mode,
      tools: [],
      commands,
      can: abilities,
      modes: offeredModes(session.modes, agent),
      models: models?.available.map(({ id, name }): AgentModel => ({ id, name })),
    })
  }

  function takeMode(next: PermissionMode): void {
    if (next === mode) return
    mode = next
    tell({ kind: 'mode.changed', mode })
  }

  /** The agent is in this mode of its own now. One that asks nobody is told as such, whoever chose it. */
  function hearMode(id: string | undefined): void {
    if (!session || id === undefined || id === session.modes.current) return
    session = { ...session, modes: { ...session.modes, current: id } }
    const known = session.modes.available.find((each) => each.id === id)
    const next = entered.get(id) ?? toMode(known ?? { id, name: id, description: undefined })
    if (next) takeMode(next)
  }

  /** Planning may begin and end beside the mode. */
  function hearPlanning({ planning, current, available }: AgentModes, wasOn: boolean | undefined): void {
    if (planning === undefined || planning.isOn === wasOn) return
    const other = available.find(({ id }) => id === current)
    const next = planning.isOn ? 'plan' : ((other && toMode(other)) ?? 'default')
    takeMode(next)
  }

  function hearOptions(update: unknown): void {
    if (!session) return
    const modes = readModes(update, session.modes)
    const models = readModels(update, session.models)
    const isOther = models?.current !== session.models?.current
    const wasPlanning = session.modes.planning?.isOn
    session = { ...session, models, modes: { ...modes, current: session.modes.current } }
    hearMode(modes.current)
    hearPlanning(modes, wasPlanning)
    if (isOther) tellStarted()
  }

  async function enter(opened: OpenedSession, next: PermissionMode): Promise<void> {
    const id = await enterMode(parts.connection(), { agent, session: opened, mode: next })
    if (id === undefined) return
    // What we approve in place of the agent is not what its own mode means when it enters that by itself.
    if (agent.asking?.approves[next] === undefined) entered.set(id, next)
    const { modes, ...rest } = session ?? opened
    const planning = modes.planning && { ...modes.planning, isOn: next === 'plan' }
    session = { ...rest, modes: { ...modes, current: id, planning } }
  }

  async function changeModel(opened: OpenedSession, model: string): Promise<void> {
    const { models, sessionId } = opened
    if (!models) throw toUnable(agent, 'be told which model to use', 'Choose the model in its own settings.')
    if (model === models.current) return
    if (models.available.length > 0 && !models.available.some(({ id }) => id === model))
      throw toNoModel(agent, model, models.available)
    const { configId } = models
    const answer = await (configId === undefined
      ? parts.connection().request('session/set_model', { sessionId, modelId: model })
      : parts.connection().request('session/set_config_option', { sessionId, configId, value: model }))
    if (session) session = { ...session, models: { ...models, current: model } }
    if (list(answer, 'configOptions').length > 0) hearOptions(answer)
  }

  function getSession(): OpenedSession {
    if (session) return session
    throw toUnable(agent, 'be changed before it has a session', 'Try again in a moment.')
  }

  return {
    async begin(fresh, can) {
      abilities = can
      // Agents fall back into a mode of theirs when a session is resumed: nothing is asked of them before this.
      await enter(fresh, mode)
      session ??= fresh
      if (start.model !== undefined) await changeModel(session, start.model)
      tellStarted()
    },
    hear(update) {
      switch (string(update, 'sessionUpdate')) {
        case 'available_commands_update':
          commands = readCommands(update)
          tellStarted()
          return true
        case 'current_mode_update':
          hearMode(string(update, 'currentModeId'))
          return true
        case 'config_option_update':
          hearOptions(update)
          return true
        default:
          return false
      }
    },
    async setMode(next) {
      await enter(getSession(), next)
      takeMode(next)
    },
    async setModel(model) {
      await changeModel(getSession(), model)
      tellStarted()
    },
    approves: (kind) => agent.asking?.approves[mode]?.(kind) === true,
  }
}

function toNoModel(agent: KnownAgent, model: string, known: readonly AgentModel[]): ThroughlineError {
  const named = known.slice(0, SHOWN_MODELS).map(({ id }) => id)
  const more = known.length > named.length ? ` and ${known.length - named.length} more` : ''
  return new ThroughlineError('request-invalid', `${agent.title} has no model called ${model}`, {
    hint: `Choose one of these: ${named.join(', ')}${more}.`,
  })
}

const SHOWN_MODELS = 12
