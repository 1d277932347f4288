import { isObject, list, number, object, string, ThroughlineError, type JsonObject } from '#base'
import { PERMISSION_MODES, type Abilities, type AgentModel, type PermissionMode } from '#model'
import type { ResumedSession, StartOptions } from '../driver.ts'
import type { AcpConnection } from './acp-connection.ts'
import { toForgotten, toRefused, toStartError, toUnable, toWords, type AgentName } from './acp-errors.ts'
import { readPromptAbilities, type PromptAbilities } from './prompt-content.ts'
import type { KnownAgent } from './known-agents.ts'
import {
  findAgentMode,
  NOT_PLANNING,
  PLANNING,
  readModes,
  readOptions,
  type AgentMode,
  type AgentModes,
} from './session-modes.ts'

/** The version of the protocol that is spoken here. */
const PROTOCOL = 1

/** What an agent said of itself when it was greeted. */
export interface AgentNature {
  readonly can: Abilities
  readonly prompt: PromptAbilities
  /** How it goes on with a session: without telling it again, by telling all of it again, or not at all. */
  readonly resume: 'session/resume' | 'session/load' | undefined
  /** Whether it can tell all of it again. */
  readonly replays: boolean
}

/** What this driver can do with an agent that can do everything. */
export const ACP_ABILITIES: Abilities = {
  resume: true,
  fork: true,
  interrupt: true,
  editInput: false,
  denialWords: false,
  midTurn: false,
  images: true,
  // In places and formats of their own, which are not read here yet.
  writesTranscript: false,
}

/** Greets the agent. Nothing of ours is offered to it: it works by itself, and asks before it does. */
export async function greet(connection: AcpConnection, agent: KnownAgent): Promise<AgentNature> {
  const answer = await connection.request('initialize', {
    protocolVersion: PROTOCOL,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'throughline', title: 'Throughline', version: '1' },
  })
  const version = number(answer, 'protocolVersion')
  if (version !== PROTOCOL)
    throw new ThroughlineError(
      'driver-unavailable',
      `${agent.title} speaks version ${String(version)} of the protocol, and not version ${String(PROTOCOL)}`,
      { hint: `Update Throughline, or install another version: \`${agent.install}\`.` },
    )
  const { asking } = agent
  const release = string(object(answer, 'agentInfo'), 'version') ?? ''
  if (asking !== undefined && !asking.isKnown(release))
    throw new ThroughlineError(
      'driver-unavailable',
      `it is not known how ${agent.title} ${release} is made to ask before it runs anything`,
      { hint: `Install a version from ${asking.known}: \`${agent.install}\`.` },
    )
  const capabilities = object(answer, 'agentCapabilities')
  const sessions = object(capabilities, 'sessionCapabilities')
  const replays = capabilities?.['loadSession'] === true
  const resume = isObject(sessions?.['resume'])
    ? ('session/resume' as const)
    : replays
      ? ('session/load' as const)
      : undefined
  const prompt = readPromptAbilities(capabilities, agent)
  return {
    can: {
      ...ACP_ABILITIES,
      resume: resume !== undefined,
      fork: isObject(sessions?.['fork']),
      images: prompt.images,
    },
    prompt,
    resume,
    replays,
  }
}

/** A session that was opened with the agent. */
export interface OpenedSession {
  /** The agent's own. */
  readonly sessionId: string
  readonly modes: AgentModes
  readonly models: AgentModels | undefined
}

/** The models that the agent offers, and how one is chosen: as an option where it is one, else by a request of its own. */
export interface AgentModels {
  readonly configId: string | undefined
  readonly current: string | undefined
  readonly available: readonly AgentModel[]
}

/** Opens a session: a new one, one that goes on, or a copy. */
export async function openSession(
  connection: AcpConnection,
  {
    agent,
    nature,
    start,
  }: { readonly agent: AgentName; readonly nature: AgentNature; readonly start: StartOptions },
): Promise<OpenedSession> {
  const { resume, workdir } = start
  const where = { cwd: workdir, mcpServers: [] }
  const request = async (method: string, params: JsonObject): Promise<OpenedSession> => {
    const answer = await connection.request(method, params).catch((cause: unknown) => {
      throw toStartError(agent, toWords(cause), { cause, resumed: resume?.sessionId })
    })
    const sessionId = string(answer, 'sessionId') ?? string(params, 'sessionId')
    if (sessionId === undefined) throw toStartError(agent, 'it opened a session without an id')
    return { sessionId, modes: readModes(answer), models: readModels(answer) }
  }
  if (!resume) return await request('session/new', where)
  if (resume.fork) {
    if (!nature.can.fork) throw toUnable(agent, 'fork a session', 'Resume the session, or begin a new one.')
    if (resume.fork.at !== undefined)
      throw toUnable(agent, 'fork a session at an entry', 'Fork it where it ends.')
    return await request('session/fork', { ...where, sessionId: resume.sessionId })
  }
  if (nature.resume === undefined)
    throw toUnable(agent, 'go on with an earlier session', 'Begin a new session.')
  const opened = await request(methodOf(nature, resume), { ...where, sessionId: resume.sessionId })
  if (opened.sessionId !== resume.sessionId) throw toForgotten(agent, resume.sessionId)
  return opened
}

/** Where it is known how much was said, the agent tells it again: then it can be seen that it knows. */
export function methodOf(
  { replays, resume: method }: AgentNature,
  { prompts }: ResumedSession,
): 'session/resume' | 'session/load' {
  return method === undefined || (replays && prompts !== undefined) ? 'session/load' : method
}

/** Puts the session into a mode. Gives the agent's own name for it; nothing when the agent has no modes. */
export async function enterMode(
  connection: AcpConnection,
  {
    agent,
    session,
    mode,
  }: { readonly agent: KnownAgent; readonly session: OpenedSession; readonly mode: PermissionMode },
): Promise<string | undefined> {
  const { modes, sessionId } = session
  const { planning, configId } = modes
  const target = findTarget(modes, mode, agent)
  if (!target) {
    if (mode === 'default' && modes.available.length === 0) return undefined
    throw toNoMode(agent, modes, mode)
  }
  const set = async (method: string, params: JsonObject): Promise<void> => {
    await connection.request(method, { sessionId, ...params }).catch((cause: unknown) => {
      throw toRefused(agent, cause)
    })
  }
  if (target.id !== modes.current) {
    if (configId === undefined) await set('session/set_mode', { modeId: target.id })
    else await set('session/set_config_option', { configId, value: target.id })
  }
  const isPlan = mode === 'plan'
  if (planning !== undefined && planning.isOn !== isPlan)
    await set('session/set_config_option', {
      configId: planning.configId,
      value: isPlan ? PLANNING : NOT_PLANNING,
    })
  return target.id
}

/** The agent's mode for one of ours: also one beside which we approve, or in which the agent is told to plan. */
function findTarget(modes: AgentModes, mode: PermissionMode, agent: KnownAgent): AgentMode | undefined {
  const target = findAgentMode(modes, mode)
  const isBeside =
    agent.asking?.approves[mode] !== undefined || (mode === 'plan' && modes.planning !== undefined)
  return target ?? (isBeside ? findAgentMode(modes, 'default') : undefined)
}

/** Our modes that a session can be put into. */
export function offeredModes(modes: AgentModes, agent: KnownAgent): readonly PermissionMode[] {
  if (modes.available.length === 0) return ['default']
  return PERMISSION_MODES.filter((mode) => findTarget(modes, mode, agent) !== undefined)
}

function toNoMode(agent: KnownAgent, modes: AgentModes, mode: PermissionMode): ThroughlineError {
  const others = offeredModes(modes, agent).filter((each) => each !== 'bypass')
  const hint =
    others.length > 0
      ? `Choose one of these: ${others.join(', ')}.`
      : 'Use another agent, or another version of it.'
  if (mode === 'default')
    return new ThroughlineError('mode-not-allowed', `${agent.title} has no mode in which it asks a person`, {
      hint,
    })
  return toUnable(agent, `work in the mode ${mode}`, hint)
}

/** Reads which models there are, from what the agent said when a session was opened or its options changed. */
export function readModels(value: unknown, before?: AgentModels): AgentModels | undefined {
  const option = list(value, 'configOptions').find((each) => string(each, 'category') === 'model')
  const configId = string(option, 'id')
  if (configId !== undefined) {
    const available = readOptions(option).flatMap((each) => toModel(each, 'value'))
    return { configId, current: string(option, 'currentValue'), available }
  }
  const models = object(value, 'models')
  if (!models) return before
  const available = list(models, 'availableModels').flatMap((each) => toModel(each, 'modelId'))
  return { configId: undefined, current: string(models, 'currentModelId'), available }
}

function toModel(value: unknown, key: string): readonly AgentModel[] {
  const id = string(value, key)
  return id === undefined ? [] : [{ id, name: string(value, 'name') ?? id }]
}
