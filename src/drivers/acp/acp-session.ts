import { isObject, list, number, object, string, ThroughlineError, type JsonObject } from '#base'
import type { Abilities, PermissionMode } from '#model'
import type { ResumedSession, StartOptions } from '../driver.ts'
import type { AcpConnection } from './acp-connection.ts'
import { toForgotten, toRefused, toStartError, toUnable, toWords, type AgentName } from './acp-errors.ts'
import { readPromptAbilities, type PromptAbilities } from './prompt-content.ts'
import { findAgentMode, readModes, toMode, type AgentModes } from './session-modes.ts'

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
  midTurn: false,
  images: true,
  // In places and formats of their own, which are not read here yet.
  writesTranscript: false,
}

/** Greets the agent. Nothing of ours is offered to it: it works by itself, and asks before it does. */
export async function greet(connection: AcpConnection, agent: AgentName): Promise<AgentNature> {
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
  const capabilities = object(answer, 'agentCapabilities')
  const sessions = object(capabilities, 'sessionCapabilities')
  const replays = capabilities?.['loadSession'] === true
  const resume = isObject(sessions?.['resume'])
    ? ('session/resume' as const)
    : replays
      ? ('session/load' as const)
      : undefined
  const prompt = readPromptAbilities(capabilities)
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

/** The option that holds the model. */
export interface AgentModels {
  readonly configId: string
  readonly current: string | undefined
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
  }: { readonly agent: AgentName; readonly session: OpenedSession; readonly mode: PermissionMode },
): Promise<string | undefined> {
  const { modes, sessionId } = session
  const target = findAgentMode(modes, mode)
  if (!target) {
    if (mode === 'default' && modes.available.length === 0) return undefined
    throw toNoMode(agent, modes, mode)
  }
  if (target.id === modes.current) return target.id
  const request =
    modes.configId === undefined
      ? connection.request('session/set_mode', { sessionId, modeId: target.id })
      : connection.request('session/set_config_option', {
          sessionId,
          configId: modes.configId,
          value: target.id,
        })
  await request.catch((cause: unknown) => {
    throw toRefused(agent, cause)
  })
  return target.id
}

function toNoMode(agent: AgentName, { available }: AgentModes, mode: PermissionMode): ThroughlineError {
  const others = [...new Set(available.flatMap((each) => toMode(each) ?? []))].filter(
    (each) => each !== 'bypass',
  )
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

/** Reads where the model is kept, from what the agent said when a session was opened or its options changed. */
export function readModels(value: unknown): AgentModels | undefined {
  const option = list(value, 'configOptions').find((each) => string(each, 'category') === 'model')
  const configId = string(option, 'id')
  return configId === undefined ? undefined : { configId, current: string(option, 'currentValue') }
}
