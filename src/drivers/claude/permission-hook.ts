import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk'
import { isObject, list, object, string, type JsonObject } from '#base'
import type { Ask, Resolution } from '#model'
import { AGENT_MARK } from '../process-tree.ts'
import { readToolRequest } from './permission.ts'

/** What Claude Code hands to its `PermissionRequest` hook while the dialog is open in a terminal. */
export interface PermissionHook {
  readonly sessionId: string
  readonly ask: Ask
  /** Where the session's transcript is; its folders tell where Claude Code keeps its registry. */
  readonly transcript: string | undefined
  /** What the hook prints. Nothing, when this is no answer: the dialog stays, and nobody has agreed to anything. */
  readonly toOutput: (resolution: Resolution | undefined) => JsonObject | undefined
}

/** What Claude Code says of itself in the environment of a hook. */
export interface HookSituation {
  /** Whether a person sits before the dialog. Where nobody does there is none, and the program waits for the hook. */
  readonly isAttended: boolean
  /** Whether a host of ours runs the session. */
  readonly isRunHere: boolean
  /** The process of Claude Code, as its registry has it. */
  readonly claudePid: string | undefined
}

/** Reads it. A session that is run by a host asks through that host: nobody has to attend to its hook. */
export function readHookSituation(env: unknown): HookSituation {
  const isProgram = string(env, 'CLAUDE_CODE_ENTRYPOINT')?.startsWith('sdk') === true
  const isAlone = string(env, 'CLAUDE_CODE_SESSION_ATTENDED') === '0'
  const isRunHere = string(env, AGENT_MARK) !== undefined
  return {
    isAttended: !isProgram && !isAlone && !isRunHere,
    isRunHere,
    claudePid: string(env, 'CLAUDE_PID'),
  }
}

/** Reads what a hook is given. `undefined` when it asks nothing of a person. */
export function readPermissionHook(payload: unknown): PermissionHook | undefined {
  const sessionId = string(payload, 'session_id')
  const tool = string(payload, 'tool_name')
  const input = object(payload, 'tool_input')
  if (string(payload, 'hook_event_name') !== 'PermissionRequest') return undefined
  if (sessionId === undefined || tool === undefined || input === undefined) return undefined
  const isPlan = tool === 'ExitPlanMode'
  // Nobody approves a plan that cannot be shown.
  if (isPlan && string(input, 'plan') === undefined) return undefined
  const request = readToolRequest(
    tool,
    input,
    {
      signal: new AbortController().signal,
      suggestions: list(payload, 'permission_suggestions').filter(isSuggestion),
      // A hook is not told.
      toolUseID: '',
      requestId: '',
    },
    // Whoever sits at the terminal has trusted the folder there.
    { workdir: string(payload, 'cwd') ?? '', trusted: true },
  )
  const { toolUseId: _unknown, ...ask } = request.ask
  return {
    sessionId,
    ask: withAgent(ask, string(payload, 'agent_id')),
    transcript: string(payload, 'transcript_path'),
    toOutput(resolution) {
      if (!fits(ask, resolution)) return undefined
      const result = request.toResult(resolution)
      if (result.behavior === 'deny') {
        const { message, interrupt } = result
        return toOutput({ behavior: 'deny', message, ...(interrupt === true ? { interrupt } : {}) })
      }
      // Of what is always asked in person Claude Code takes no yes that does not say to what.
      const isEdited =
        isPlan ||
        resolution.kind === 'answer' ||
        (resolution.kind === 'allow' && resolution.input !== undefined)
      return toOutput({
        behavior: 'allow',
        ...(isEdited ? { updatedInput: result.updatedInput } : {}),
        ...(result.updatedPermissions === undefined ? {} : { updatedPermissions: result.updatedPermissions }),
      })
    },
  }
}

function toOutput(decision: JsonObject): JsonObject {
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }
}

function withAgent(ask: Ask, agentId: string | undefined): Ask {
  return ask.kind === 'permission' && agentId !== undefined && agentId !== '' ? { ...ask, agentId } : ask
}

/** An answer of the wrong kind is none. A driver takes it for a refusal; here somebody else can still answer. */
function fits(ask: Pick<Ask, 'kind'>, resolution: Resolution | undefined): resolution is Resolution {
  if (resolution === undefined) return false
  if (resolution.kind === 'deny') return true
  return resolution.kind === (ask.kind === 'question' ? 'answer' : 'allow')
}

const DESTINATIONS: readonly unknown[] = ['session', 'localSettings', 'projectSettings', 'userSettings']

/** What is handed back must be what was suggested: of a shape that is known, whole. */
function isSuggestion(value: unknown): value is PermissionUpdate {
  if (!isObject(value) || !DESTINATIONS.includes(value['destination'])) return false
  switch (value['type']) {
    case 'addRules':
      return value['behavior'] === 'allow' && isListOf(value['rules'], isRule)
    case 'addDirectories':
      return isListOf(value['directories'], (one) => typeof one === 'string')
    case 'setMode':
      return typeof value['mode'] === 'string'
    default:
      return false
  }
}

function isRule(value: unknown): boolean {
  if (string(value, 'toolName') === undefined || !isObject(value)) return false
  return value['ruleContent'] === undefined || typeof value['ruleContent'] === 'string'
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne)
}
