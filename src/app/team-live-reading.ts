import { boolean, field, isObject, list, number, object, parseJson, string } from '#base'
import {
  findEndReason,
  findMode,
  findPromptState,
  type Abilities,
  type Block,
  type DeltaFact,
  type LivePrompt,
  type MessageFact,
  type SessionState,
  type SessionView,
  type TurnOutcome,
  type TurnSoFar,
} from '#model'
import { readAttention, type BoardCard } from '#wire'

const DEEPEST = 4

/** What a machine shows on a board of a session that it runs. */
export interface ShownCard {
  readonly card: Omit<BoardCard, 'origin' | 'may'>
  /** The id that its agent goes on under, when that is another one. */
  readonly alias?: string | undefined
}

/** Reads the card of a session on another machine. It is foreign: what is not one is `undefined`. */
export function readCard(bytes: Buffer, session: string): ShownCard | undefined {
  const value = parseJson(bytes.toString('utf8'))
  const state = readState(field(value, 'state'))
  if (!isObject(value) || state === undefined) return undefined
  const mode = findMode(field(value, 'mode'))
  const model = string(value, 'model')
  const trouble = string(value, 'trouble')
  const lastTurn = (['answered', 'interrupted', 'failed'] as const).find(
    (known) => known === string(value, 'lastTurn'),
  )
  const card = {
    sessionId: session,
    agent: string(value, 'agent') ?? 'unknown',
    workdir: string(value, 'workdir') ?? '',
    where: string(value, 'where') === 'elsewhere' ? ('elsewhere' as const) : ('here' as const),
    state,
    startedAt: toTime(string(value, 'startedAt')),
    changedAt: toTime(string(value, 'changedAt')),
    ...(mode === undefined ? {} : { mode }),
    ...(model === undefined ? {} : { model }),
    attentions: readAttentions(value, session),
    waitingPrompts: number(value, 'waitingPrompts') ?? 0,
    ...(lastTurn === undefined ? {} : { lastTurn }),
    ...(trouble === undefined ? {} : { trouble }),
  }
  return { card, alias: string(value, 'agentSessionId') }
}

/** Reads how such a session stands. */
export function readShownView(bytes: Buffer, session: string): SessionView | undefined {
  const value = parseJson(bytes.toString('utf8'))
  const state = readState(field(value, 'state'))
  const mode = findMode(field(value, 'mode'))
  const run = string(value, 'run')
  const seq = number(value, 'seq')
  if (!isObject(value) || state === undefined || mode === undefined || run === undefined || seq === undefined)
    return undefined
  const model = string(value, 'model')
  const agentSessionId = string(value, 'agentSessionId')
  const turn = object(value, 'turn')
  return {
    sessionId: session,
    run,
    seq,
    pid: 0,
    agent: string(value, 'agent') ?? 'unknown',
    can: readAbilities(field(value, 'can')),
    workdir: string(value, 'workdir') ?? '',
    startedAt: toTime(string(value, 'startedAt')),
    state,
    mode,
    ...(model === undefined ? {} : { model }),
    ...(agentSessionId === undefined ? {} : { agentSessionId }),
    tools: texts(value, 'tools'),
    commands: texts(value, 'commands'),
    prompts: list(value, 'prompts').flatMap((prompt) => readPrompt(prompt) ?? []),
    attentions: readAttentions(value, session),
    ...(turn === undefined ? {} : { turn: readTurn(turn) }),
  }
}

/** Of this session, whatever they say. */
function readAttentions(value: unknown, sessionId: string): BoardCard['attentions'] {
  return list(value, 'attentions').flatMap((each) => {
    const attention = readAttention(each)
    return attention?.state.state === 'open' ? [{ ...attention, sessionId }] : []
  })
}

function readState(value: unknown): SessionState | undefined {
  const state = string(value, 'state')
  switch (state) {
    case 'pending':
    case 'idle':
    case 'running':
    case 'waiting':
      return { state }
    case 'ended': {
      const reason = findEndReason(field(value, 'reason')) ?? 'ended'
      const message = string(value, 'message')
      const hint = string(value, 'hint')
      return {
        state,
        reason,
        ...(message === undefined ? {} : { message }),
        ...(hint === undefined ? {} : { hint }),
      }
    }
    default:
      return undefined
  }
}

function readAbilities(value: unknown): Abilities {
  const can = (name: string): boolean => boolean(value, name) ?? false
  return {
    resume: can('resume'),
    fork: can('fork'),
    interrupt: can('interrupt'),
    editInput: can('editInput'),
    denialWords: can('denialWords'),
    midTurn: can('midTurn'),
    images: can('images'),
    writesTranscript: can('writesTranscript'),
  }
}

function readPrompt(value: unknown): LivePrompt | undefined {
  const id = string(value, 'id')
  const state = findPromptState(field(value, 'state'))
  if (id === undefined || state === undefined) return undefined
  return {
    id,
    state,
    by: string(value, 'by') ?? '',
    at: toTime(string(value, 'at')),
    blocks: readBlocks(field(value, 'blocks')),
  }
}

function readTurn(value: unknown): TurnSoFar {
  const promptId = string(value, 'promptId')
  const outcome = readOutcome(field(value, 'outcome'))
  return {
    startedAt: toTime(string(value, 'startedAt')),
    ...(promptId === undefined ? {} : { promptId }),
    ...(outcome === undefined ? {} : { outcome }),
    messages: list(value, 'messages').flatMap((message) => readMessage(message) ?? []),
    dropped: number(value, 'dropped') ?? 0,
    streaming: list(value, 'streaming').flatMap((delta) => readDelta(delta) ?? []),
  }
}

function readOutcome(value: unknown): TurnOutcome | undefined {
  switch (string(value, 'kind')) {
    case 'answered':
      return { kind: 'answered' }
    case 'interrupted':
      return { kind: 'interrupted' }
    case 'failed':
      return {
        kind: 'failed',
        message: string(value, 'message') ?? '',
        retry: boolean(value, 'retry') ?? false,
        hint: string(value, 'hint'),
      }
    default:
      return undefined
  }
}

function readMessage(value: unknown): MessageFact | undefined {
  const role = (['person', 'agent', 'tool'] as const).find((known) => known === string(value, 'role'))
  if (role === undefined) return undefined
  return {
    kind: 'message',
    id: string(value, 'id'),
    messageId: string(value, 'messageId'),
    block: number(value, 'block'),
    role,
    blocks: readBlocks(field(value, 'blocks')),
    model: string(value, 'model'),
    parentToolUseId: string(value, 'parentToolUseId'),
  }
}

function readDelta(value: unknown): DeltaFact | undefined {
  const messageId = string(value, 'messageId')
  const block = number(value, 'block')
  const text = string(value, 'text')
  const what = (['text', 'thinking', 'input'] as const).find((known) => known === string(value, 'what'))
  if (messageId === undefined || block === undefined || text === undefined || what === undefined)
    return undefined
  return { kind: 'delta', messageId, block, what, text }
}

function readBlocks(value: unknown, depth = 0): readonly Block[] {
  if (!Array.isArray(value) || depth > DEEPEST) return []
  return value.map((block: unknown) => readBlock(block, depth))
}

function readBlock(value: unknown, depth: number): Block {
  switch (string(value, 'kind')) {
    case 'text':
      return { kind: 'text', text: string(value, 'text') ?? '' }
    case 'thinking':
      return { kind: 'thinking', thinking: string(value, 'thinking') ?? '' }
    case 'tool-use':
      return {
        kind: 'tool-use',
        id: string(value, 'id') ?? '',
        name: string(value, 'name') ?? '',
        input: field(value, 'input'),
      }
    case 'tool-result':
      return {
        kind: 'tool-result',
        toolUseId: string(value, 'toolUseId') ?? '',
        content: readBlocks(field(value, 'content'), depth + 1),
        isError: boolean(value, 'isError') ?? false,
      }
    default:
      return { kind: 'unknown', value }
  }
}

function texts(value: unknown, key: string): readonly string[] {
  return list(value, key).filter((item) => typeof item === 'string')
}

function toTime(text: string | undefined): string {
  return text !== undefined && !Number.isNaN(Date.parse(text)) ? text : new Date(0).toISOString()
}
