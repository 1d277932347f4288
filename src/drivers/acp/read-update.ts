import { field, list, number, object, string } from '#base'
import type { Block, TurnContext } from '#model'
import type { AgentFact } from '../driver.ts'
import { toDenialWords } from '../denial.ts'
import { findCodexNote } from './codex-notes.ts'
import type { KnownAgent } from './known-agents.ts'
import { readContent, toInput, toResult, toToolCall, type ToolCall } from './tool-call.ts'

/** Makes facts of what an agent says while it works. Nothing that it could say makes this fail. */
export interface UpdateReader {
  /** What an update tells. What is not known is handed on whole. */
  read(update: unknown): readonly AgentFact[]
  /** A permission is asked for a call, which may be the first that is heard of it. */
  readAsked(toolCall: unknown): { readonly call: ToolCall; readonly facts: readonly AgentFact[] }
  /** Whether a call began whose input may not be whole yet. */
  isBeginning(callId: string): boolean
  /** A person denied a call. Some agents say nothing more of it: then that is its result. */
  deny(callId: string, words: string | undefined): void
  /** The turn is over: what was said in pieces is whole. `failure`: why the model could not be asked, if it is so. */
  finish(): {
    readonly facts: readonly AgentFact[]
    readonly failure: string | undefined
    /** How full the window was at last, and what the turn cost, where the agent said so. */
    readonly context: TurnContext | undefined
    readonly costUsd: number | undefined
  }
}

interface OpenBlock {
  readonly what: 'text' | 'thinking'
  readonly messageId: string
  readonly block: number
  text: string
}

interface Told {
  call: ToolCall
  /** As it was told. What is heard of it later changes nothing of that. */
  told: ToolCall | undefined
  isDone: boolean
  /** What is said of it when the agent says nothing more. */
  denial: string | undefined
}

export function createUpdateReader(agent: Pick<KnownAgent, 'toolOf'> = {}): UpdateReader {
  const calls = new Map<string, Told>()
  /** How many blocks of each message of this turn were begun. */
  const begun = new Map<string, number>()
  /** The message that is being said. */
  let message: string | undefined
  let open: OpenBlock | undefined
  let minted = 0
  /** From when the model could not be asked: what is said then is why. */
  let failure: string | undefined
  let context: TurnContext | undefined
  /** What the session has cost by now, and when the turn began. */
  const cost = { now: 0, before: 0, isTold: false }

  function readSpent(update: unknown): void {
    const used = number(update, 'used')
    const window = number(update, 'size')
    // Of a request that failed it says nothing, as a zero.
    if (used !== undefined && used > 0) context = { used, ...(window === undefined ? {} : { window }) }
    const told = object(update, 'cost')
    const amount = string(told, 'currency') === 'USD' ? number(told, 'amount') : undefined
    if (amount !== undefined) Object.assign(cost, { now: amount, isTold: true })
  }

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
    const before = goesOn ? [] : [...settleDenied(), ...close()]
    open ??= begin(what, named)
    open.text += block.text
    const { messageId, block: index } = open
    return [...before, { kind: 'delta', messageId, block: index, what, text: block.text }]
  }

  function tellCall(told: Told): readonly AgentFact[] {
    if (told.told !== undefined) return []
    told.told = told.call
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
    const call = toToolCall(value, before?.call, agent.toolOf?.(value))
    const told = before ?? { call, told: undefined, isDone: false, denial: undefined }
    told.call = call
    calls.set(id, told)
    return told
  }

  /** What was denied and not heard of again has not run. */
  function settleDenied(): readonly AgentFact[] {
    const facts: AgentFact[] = []
    for (const told of calls.values()) {
      if (told.denial === undefined || told.isDone) continue
      told.isDone = true
      const content = toText(told.denial)
      facts.push({
        kind: 'message',
        role: 'tool',
        blocks: [{ kind: 'tool-result', toolUseId: told.call.id, content, isError: true }],
      })
    }
    return facts
  }

  function readCall(update: unknown): readonly AgentFact[] {
    const told = upsert(update)
    const { call } = told
    const isOver = call.status === 'completed' || call.status === 'failed'
    // Of a call that only begins the input may not be whole yet.
    const isReady =
      isOver ||
      call.status === 'in_progress' ||
      (call.status !== 'pending' && (call.input !== undefined || call.content.length > 0))
    const facts = isReady ? [...tellCall(told)] : []
    if (!isOver || told.isDone) return facts
    told.isDone = true
    // What a tool gave back can be large, and nobody asks for it twice.
    told.call = { ...call, content: [], output: undefined, printed: '' }
    const content = call.status === 'failed' ? toDenied(told, toResult(call)) : toResult(call)
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
        case 'usage_update':
          readSpent(update)
          return []
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
      const before = calls.get(string(toolCall, 'toolCallId') ?? '')
      // What was told already is what is asked about: the question may hold less of it, or say it in other words.
      if (before?.told !== undefined && isSaid(before.told, toolCall)) return { call: before.told, facts: [] }
      const told = upsert(toolCall)
      return { call: told.call, facts: tellCall(told) }
    },
    isBeginning(callId) {
      const told = calls.get(callId)
      return told !== undefined && told.told === undefined
    },
    deny(callId, words) {
      const told = calls.get(callId)
      if (told) told.denial = toDenialWords({ words })
    },
    finish() {
      const facts = [...close()]
      for (const told of calls.values()) facts.push(...tellCall(told))
      facts.push(...settleDenied())
      const why = failure?.trim()
      const spent = { context, costUsd: cost.isTold ? cost.now - cost.before : undefined }
      calls.clear()
      begun.clear()
      message = undefined
      failure = undefined
      context = undefined
      cost.before = cost.now
      return { facts, failure: why === '' ? 'the model could not be asked' : why, ...spent }
    },
  }
}

function toText(text: string): readonly Block[] {
  return [{ kind: 'text', text }]
}

/** What a failed call gave back, and before it that a person denied the call, if it is so. */
function toDenied({ denial }: Told, content: readonly Block[]): readonly Block[] {
  if (denial === undefined) return content
  return content.length === 0 ? toText(denial) : [...toText(toDenialWords({})), ...content]
}

/** Whether what is known of a call is all that a question about it can say. */
function isSaid({ input, content }: ToolCall, asked: unknown): boolean {
  return input !== undefined || (content.length > 0 && field(asked, 'rawInput') === undefined)
}

/** The commands that the agent says it has. */
export function readCommands(update: unknown): readonly string[] {
  return list(update, 'availableCommands').flatMap((command) => string(command, 'name') ?? [])
}
