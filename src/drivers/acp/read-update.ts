import { field, list, number, object, string } from '#base'
import type { TurnOutcome, Usage } from '#model'
import type { AgentFact } from '../driver.ts'
import { findCodexNote } from './codex-notes.ts'
import { readContent, toInput, toResult, toToolCall, type ToolCall } from './tool-call.ts'

/** Makes facts of what an agent says while it works. Nothing that it could say makes this fail. */
export interface UpdateReader {
  /** What an update tells. What is not known is handed on whole. */
  read(update: unknown): readonly AgentFact[]
  /** A permission is asked for a call, which may be the first that is heard of it. */
  readAsked(toolCall: unknown): { readonly call: ToolCall; readonly facts: readonly AgentFact[] }
  /** The turn is over: what was said in pieces is whole. `failure`: why the model could not be asked, if it is so. */
  finish(): { readonly facts: readonly AgentFact[]; readonly failure: string | undefined }
}

interface OpenBlock {
  readonly what: 'text' | 'thinking'
  readonly messageId: string
  readonly block: number
  text: string
}

interface Told {
  call: ToolCall
  isTold: boolean
  isDone: boolean
}

export function createUpdateReader(): UpdateReader {
  const calls = new Map<string, Told>()
  /** How many blocks of each message of this turn were begun. */
  const begun = new Map<string, number>()
  /** The message that is being said. */
  let message: string | undefined
  let open: OpenBlock | undefined
  let minted = 0
  /** From when the model could not be asked: what is said then is why. */
  let failure: string | undefined

  function close(): readonly AgentFact[] {
    if (!open) return []
    const { what, messageId, block, text } = open
    open = undefined
    return [
      {
        kind: 'message',
        role: 'agent',
        messageId,
        block,
        blocks: [what === 'text' ? { kind: 'text', text } : { kind: 'thinking', thinking: text }],
      },
    ]
  }

  function begin(what: OpenBlock['what'], named: string | undefined): OpenBlock {
    message = named ?? message ?? `acp-${String(++minted)}`
    const block = begun.get(message) ?? 0
    begun.set(message, block + 1)
    return { what, messageId: message, block, text: '' }
  }

  function readChunk(update: unknown, what: OpenBlock['what']): readonly AgentFact[] {
    const block = readContent(field(update, 'content'))
    const named = string(update, 'messageId')
    if (failure !== undefined && named === undefined && block.kind === 'text') {
      failure += block.text
      return []
    }
    if (block.kind !== 'text') {
      const before = close()
      const { messageId, block: index } = begin('text', named)
      return [...before, { kind: 'message', role: 'agent', messageId, block: index, blocks: [block] }]
    }
    const goesOn = open?.what === what && (named === undefined || named === open.messageId)
    const before = goesOn ? [] : close()
    open ??= begin(what, named)
    open.text += block.text
    const { messageId, block: index } = open
    return [...before, { kind: 'delta', messageId, block: index, what, text: block.text }]
  }

  function tellCall(told: Told): readonly AgentFact[] {
    if (told.isTold) return []
    told.isTold = true
    const before = close()
    message = undefined
    const { id, name } = told.call
    const input = toInput(told.call)
    return [
      ...before,
      {
        kind: 'message',
        role: 'agent',
        messageId: id,
        block: 0,
        blocks: [{ kind: 'tool-use', id, name, input }],
      },
    ]
  }

  function upsert(value: unknown): Told {
    const id = string(value, 'toolCallId') ?? ''
    const before = calls.get(id)
    const told = before ?? { call: toToolCall(value), isTold: false, isDone: false }
    if (before) told.call = toToolCall(value, before.call)
    calls.set(id, told)
    return told
  }

  function readCall(update: unknown): readonly AgentFact[] {
    const told = upsert(update)
    const { call } = told
    const isOver = call.status === 'completed' || call.status === 'failed'
    // A call that only begins may not have its input yet.
    const isReady =
      isOver || call.input !== undefined || call.content.length > 0 || call.status === 'in_progress'
    const facts = isReady ? [...tellCall(told)] : []
    if (!isOver || told.isDone) return facts
    told.isDone = true
    // What a tool gave back can be large, and nobody asks for it twice.
    told.call = { ...call, content: [], output: undefined, printed: '' }
    const content = toResult(call)
    return [
      ...facts,
      {
        kind: 'message',
        role: 'tool',
        blocks: [{ kind: 'tool-result', toolUseId: call.id, content, isError: call.status === 'failed' }],
      },
    ]
  }

  return {
    read(update) {
      switch (string(update, 'sessionUpdate')) {
        case 'agent_message_chunk':
          return readChunk(update, 'text')
        case 'agent_thought_chunk':
          return readChunk(update, 'thinking')
        case 'tool_call':
        case 'tool_call_update':
          return readCall(update)
        case 'session_info_update': {
          const note = findCodexNote(update)
          if (note?.kind === 'retrying') return [note]
          if (note) failure ??= ''
          return [{ kind: 'unknown', value: update }]
        }
        default:
          return [{ kind: 'unknown', value: update }]
      }
    },
    readAsked(toolCall) {
      const told = upsert(toolCall)
      return { call: told.call, facts: tellCall(told) }
    },
    finish() {
      const facts = [...close()]
      for (const told of calls.values()) facts.push(...tellCall(told))
      const why = failure?.trim()
      calls.clear()
      begun.clear()
      message = undefined
      failure = undefined
      return { facts, failure: why === '' ? 'the model could not be asked' : why }
    },
  }
}

/** How a turn ended, as the agent's answer to a prompt says it. */
export function toOutcome(response: unknown): TurnOutcome {
  const reason = string(response, 'stopReason')
  switch (reason) {
    case 'end_turn': {
      const usage = toUsage(object(response, 'usage'))
      return usage ? { kind: 'answered', usage } : { kind: 'answered' }
    }
    case 'cancelled':
      return { kind: 'interrupted' }
    case 'refusal':
      return { kind: 'failed', message: 'the agent refused to go on', retry: false }
    case 'max_tokens':
      return { kind: 'failed', message: 'the answer reached the limit of tokens', retry: true }
    case 'max_turn_requests':
      return { kind: 'failed', message: 'the turn reached the limit of requests to the model', retry: true }
    default:
      return { kind: 'failed', message: `the turn ended with ${reason ?? 'no reason'}`, retry: false }
  }
}

function toUsage(usage: unknown): Usage | undefined {
  const input = number(usage, 'inputTokens')
  const output = number(usage, 'outputTokens')
  if (input === undefined || output === undefined) return undefined
  const cacheCreation = number(usage, 'cachedWriteTokens') ?? 0
  return {
    input,
    output,
    cacheRead: number(usage, 'cachedReadTokens') ?? 0,
    cacheCreation,
    cacheCreation5m: cacheCreation,
    cacheCreation1h: 0,
  }
}

/** The commands that the agent says it has. */
export function readCommands(update: unknown): readonly string[] {
  return list(update, 'availableCommands').flatMap((command) => string(command, 'name') ?? [])
}
