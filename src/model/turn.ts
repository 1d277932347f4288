import type { Message, PromptMessage } from './message.ts'
import { addUsage, NO_USAGE, type Usage } from './usage.ts'

/**
 * A prompt and everything until the agent is idle again. Derived, never stored. A prompt sent while a turn runs
 * belongs to that turn, and so do the results of its calls, whenever they came.
 */
export interface Turn {
  /** Absent for what stands before the first prompt. */
  readonly prompt?: PromptMessage
  readonly messages: readonly Message[]
  readonly startedAt?: string
  readonly endedAt?: string
  /** Billed in this turn, each message once. */
  readonly usage: Usage
  readonly toolCalls: number
  /**
   * `answered`: the agent came to its end. `interrupted`: a person stopped it. `failed`: the API did.
   * `open`: none of these, as after a crash, or while it runs.
   */
  readonly state: 'answered' | 'interrupted' | 'failed' | 'open'
}

/** Divides messages into turns. What stands before the first prompt is a turn without one, if anything was said. */
export function toTurns(messages: readonly Message[]): readonly Turn[] {
  const groups: Message[][] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (last === undefined || startsTurn(message)) groups.push([message])
    else last.push(message)
  }
  return groups.map(toTurn).filter((turn) => turn.prompt !== undefined || turn.messages.some(isReply))
}

export function startsTurn(message: Message): boolean {
  return message.kind === 'prompt' && !message.midTurn
}

function isReply(message: Message): boolean {
  return message.kind === 'reply'
}

function toTurn(messages: readonly Message[]): Turn {
  const first = messages[0]
  let usage = NO_USAGE
  let toolCalls = 0
  for (const message of messages) {
    if (message.kind !== 'reply') continue
    if (message.usage) usage = addUsage(usage, message.usage)
    toolCalls += message.calls.length
  }
  const times = messages.flatMap((message) => message.entries.flatMap((entry) => entry.at ?? []))
  const startedAt = times[0]
  const endedAt = times.at(-1)
  return {
    ...(first?.kind === 'prompt' ? { prompt: first } : {}),
    messages,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
    usage,
    toolCalls,
    state: stateOf(messages),
  }
}

function stateOf(messages: readonly Message[]): Turn['state'] {
  const last = messages.findLast(
    (message) => message.kind === 'reply' || (message.kind === 'notice' && message.level !== 'notice'),
  )
  if (last === undefined) return 'open'
  if (last.kind === 'notice') return last.level === 'error' ? 'failed' : 'interrupted'
  if (last.kind !== 'reply') return 'open'
  return last.stopReason !== undefined && last.stopReason !== 'tool_use' ? 'answered' : 'open'
}
