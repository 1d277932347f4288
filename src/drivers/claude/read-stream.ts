import { boolean, isObject, list, number, object, string, type JsonObject } from '#base'
import { faultOf, readBlocks, textOf, type Usage } from '#model'
import type { PermissionMode, TurnOutcome } from '#model'
import type { AgentFact, AgentPrompt } from '../driver.ts'

/** Reads what Claude Code says while it runs. Never throws; what it does not know it hands on. */
export interface StreamReader {
  read(message: unknown): readonly AgentFact[]
  /** Whether a turn is under way. */
  readonly isRunning: () => boolean
}

export interface StreamReaderOptions {
  /** The id that the session has at first. */
  readonly sessionId: string
  /** The prompt that was handed over under an id, the first time it is asked for. */
  readonly takePrompt: (uuid: string) => AgentPrompt | undefined
}

export function createStreamReader({ sessionId, takePrompt }: StreamReaderOptions): StreamReader {
  let session = sessionId
  let running = false
  let told = ''
  let messageId = ''
  let block = 0

  function begin(promptId: string | undefined): readonly AgentFact[] {
    if (running) return []
    running = true
    return [{ kind: 'turn.started', promptId }]
  }

  function readSystem(message: JsonObject): readonly AgentFact[] {
    switch (message['subtype']) {
      case 'init': {
        const started = toStarted(message, session)
        const now = JSON.stringify(started)
        const news = now === told ? [] : [started]
        told = now
        // A turn that nobody prompted has no other beginning.
        return [...begin(undefined), ...news]
      }
      case 'status': {
        const mode = toMode(message['permissionMode'])
        return mode ? [{ kind: 'mode.changed', mode }] : []
      }
      case 'api_retry':
        return [
          {
            kind: 'retrying',
            message: string(message, 'error') ?? 'no answer',
            status: number(message, 'error_status'),
            attempt: number(message, 'attempt') ?? 1,
            attempts: number(message, 'max_retries') ?? 1,
            inMs: number(message, 'retry_delay_ms') ?? 0,
          },
        ]
      case 'session_state_changed':
      case 'thinking_tokens':
        return []
      default:
        return [{ kind: 'unknown', value: message }]
    }
  }

  function readLifecycle(message: JsonObject): readonly AgentFact[] {
    if (message['state'] !== 'started' && message['state'] !== 'completed') return []
    const prompt = takePrompt(string(message, 'command_uuid') ?? '')
    if (!prompt) return []
    return [...begin(prompt.id), { kind: 'message', id: prompt.id, role: 'person', blocks: prompt.blocks }]
  }

  function readStreamEvent(message: JsonObject): readonly AgentFact[] {
    const event = object(message, 'event')
    switch (event?.['type']) {
      case 'message_start':
        messageId = string(object(event, 'message'), 'id') ?? ''
        return []
      case 'content_block_start':
        block = number(event, 'index') ?? 0
        return []
      case 'content_block_delta': {
        const delta = readDelta(object(event, 'delta'))
        return delta ? [{ kind: 'delta', messageId, block: number(event, 'index') ?? block, ...delta }] : []
      }
      default:
        return []
    }
  }

  function readAssistant(message: JsonObject): readonly AgentFact[] {
    const inner = object(message, 'message')
    // Claude Code writes these itself, for errors above all. The end of the turn says what they say.
    if (string(inner, 'model') === '<synthetic>') return [{ kind: 'unknown', value: message }]
    const id = string(inner, 'id')
    const parentToolUseId = string(message, 'parent_tool_use_id')
    return [
      {
        kind: 'message',
        id: string(message, 'uuid'),
        messageId: id,
        // It comes before the end of its block, so the block that is open is its own.
        block: id === messageId && parentToolUseId === undefined ? block : undefined,
        role: 'agent',
        blocks: readBlocks(inner?.['content']),
        model: string(inner, 'model'),
        parentToolUseId,
      },
    ]
  }

  function readKnown(message: JsonObject): readonly AgentFact[] {
    switch (message['type']) {
      case 'system':
        return readSystem(message)
      case 'command_lifecycle':
        return readLifecycle(message)
      case 'stream_event':
        return readStreamEvent(message)
      case 'assistant':
        return readAssistant(message)
      case 'user':
        return readUser(message)
      case 'result': {
        // The ends of turns that ran into each other may come together: every end has its beginning.
        const begun = begin(undefined)
        running = false
        return [...begun, { kind: 'turn.ended', outcome: toOutcome(message) }]
      }
      default:
        return [{ kind: 'unknown', value: message }]
    }
  }

  return {
    isRunning: () => running,
    read(message) {
      if (!isObject(message)) return [{ kind: 'unknown', value: message }]
      const now = string(message, 'session_id') ?? ''
      if (now === '' || now === session) return readKnown(message)
      session = now
      return [{ kind: 'renamed', sessionId: now }, ...readKnown(message)]
    },
  }
}

function readUser(message: JsonObject): readonly AgentFact[] {
  const blocks = readBlocks(object(message, 'message')?.['content'])
  const parentToolUseId = string(message, 'parent_tool_use_id')
  const isResult = blocks.some((each) => each.kind === 'tool-result')
  if (!isResult && parentToolUseId === undefined) return [{ kind: 'unknown', value: message }]
  const role = isResult ? 'tool' : 'person'
  return [{ kind: 'message', id: string(message, 'uuid'), role, blocks, parentToolUseId }]
}

/** What a mode of ours is called by Claude Code. */
export const CLAUDE_MODES: Readonly<
  Record<PermissionMode, 'default' | 'acceptEdits' | 'plan' | 'bypassPermissions'>
> = {
  default: 'default',
  'accept-edits': 'acceptEdits',
  plan: 'plan',
  bypass: 'bypassPermissions',
}

export function toMode(value: unknown): PermissionMode | undefined {
  switch (value) {
    case 'default':
      return 'default'
    case 'acceptEdits':
      return 'accept-edits'
    case 'plan':
      return 'plan'
    case 'bypassPermissions':
      return 'bypass'
    default:
      return undefined
  }
}

function toStarted(message: JsonObject, sessionId: string): AgentFact {
  return {
    kind: 'started',
    sessionId,
    model: string(message, 'model'),
    mode: toMode(message['permissionMode']),
    tools: strings(list(message, 'tools')),
    commands: strings(list(message, 'slash_commands')),
  }
}

function strings(values: readonly unknown[]): readonly string[] {
  return values.filter((value) => typeof value === 'string')
}

function readDelta(
  delta: JsonObject | undefined,
): { readonly what: 'text' | 'thinking' | 'input'; readonly text: string } | undefined {
  const read = (what: 'text' | 'thinking' | 'input', key: string): ReturnType<typeof readDelta> => {
    const text = string(delta, key)
    return text === undefined || text === '' ? undefined : { what, text }
  }
  switch (delta?.['type']) {
    case 'text_delta':
      return read('text', 'text')
    case 'thinking_delta':
      return read('thinking', 'thinking')
    case 'input_json_delta':
      return read('input', 'partial_json')
    default:
      return undefined
  }
}

/** A `success` may be a failure: what counts is `is_error`. */
function toOutcome(result: JsonObject): TurnOutcome {
  const reason = string(result, 'terminal_reason') ?? ''
  if (reason.startsWith('aborted')) return { kind: 'interrupted' }
  if (result['subtype'] === 'success' && boolean(result, 'is_error') !== true)
    return { kind: 'answered', usage: readUsage(object(result, 'usage')), costUsd: readCost(result) }
  const errors = strings(list(result, 'errors')).join('\n')
  const message =
    string(result, 'result') || errors || textOf(readBlocks(result['result'])) || 'The turn failed.'
  const status = number(result, 'api_error_status') ?? readStatus(message)
  const fault = faultOf(message, status)
  const retry = fault !== 'session' && mayWorkLater(message, status)
  return { kind: 'failed', message, status, retry, fault }
}

function readStatus(message: string): number | undefined {
  const [, status] = /API Error: (?:Repeated )?([45]\d\d)\b/u.exec(message) ?? []
  return status === undefined ? undefined : Number(status)
}

function mayWorkLater(message: string, status: number | undefined): boolean {
  if (/\/login|invalid api key|credit balance/iu.test(message)) return false
  return status === undefined || status === 408 || status === 409 || status === 429 || status >= 500
}

function readUsage(usage: JsonObject | undefined): Usage | undefined {
  if (!usage) return undefined
  const created = object(usage, 'cache_creation')
  return {
    input: number(usage, 'input_tokens') ?? 0,
    output: number(usage, 'output_tokens') ?? 0,
    cacheRead: number(usage, 'cache_read_input_tokens') ?? 0,
    cacheCreation: number(usage, 'cache_creation_input_tokens') ?? 0,
    cacheCreation5m: number(created, 'ephemeral_5m_input_tokens') ?? 0,
    cacheCreation1h: number(created, 'ephemeral_1h_input_tokens') ?? 0,
  }
}

/** Of this turn alone: `total_cost_usd` adds up everything since the process started. */
function readCost(result: JsonObject): number | undefined {
  const models = object(result, 'model_usage_since_last_result')
  if (!models) return undefined
  return Object.values(models).reduce<number>((sum, model) => sum + (number(model, 'costUSD') ?? 0), 0)
}
