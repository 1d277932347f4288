import {
  addUsage,
  createBilling,
  NO_USAGE,
  toMessages,
  toTurns,
  type Entry,
  type Target,
  type TokenState,
  type ToolUseBlock,
  type Turn,
  type Usage,
} from '#model'
import { toAiSdk } from './ai-sdk.ts'
import { toAnthropic } from './anthropic.ts'
import { toContextSize } from './troubles/check.ts'
import { toGemini } from './gemini.ts'
import type { Gaps } from './gaps.ts'
import type { Loss } from './loss.ts'
import { toOpenAIChat } from './openai-chat.ts'
import { toOpenAIResponses } from './openai-responses.ts'
import { toSaid, type Said } from './said.ts'

/** What a program needs to go on with a session as if it had never ended. */
export interface Restored {
  readonly target: Target
  /** Ready for a request. */
  readonly messages: readonly object[]
  readonly turns: readonly Turn[]
  readonly tokens: TokenState
  readonly model?: string | undefined
  readonly workdir?: string | undefined
  readonly branch?: string | undefined
  /** The permission mode that held last. */
  readonly mode?: string | undefined
  /** Calls that nobody answered. In the messages they are answered as interrupted. */
  readonly pending: readonly ToolUseBlock[]
  /** What is not there as it was. */
  readonly losses: readonly Loss[]
}

/**
 * Restores a conversation for an interface. Pure: the same entries give the same, however often. With what its reader
 * could not read, `gaps`, the losses say also what is missing.
 */
export function restore(entries: readonly Entry[], target: Target, gaps?: Gaps): Restored {
  const said = toSaid(entries, gaps)
  const { messages, losses } = toTarget(said, target)
  const reply = entries.findLast((entry) => entry.kind === 'reply' && !entry.synthetic)
  const prompt = entries.findLast((entry) => entry.kind === 'prompt' && entry.permissionMode !== undefined)
  return {
    target,
    messages,
    turns: toTurns(toMessages(entries)),
    tokens: toTokenState(entries),
    model: reply?.kind === 'reply' ? reply.model : undefined,
    workdir: entries.findLast(({ cwd }) => cwd !== undefined)?.cwd,
    branch: entries.findLast(({ gitBranch }) => gitBranch !== undefined)?.gitBranch,
    mode: prompt?.kind === 'prompt' ? prompt.permissionMode : undefined,
    pending: said.pending,
    losses,
  }
}

/** A conversation for an interface, with what it cannot carry. */
export function toTarget(
  said: Said,
  target: Target,
): { readonly messages: readonly object[]; readonly losses: readonly Loss[] } {
  switch (target) {
    case 'anthropic':
      return toAnthropic(said)
    case 'openai-responses': {
      const { input, losses } = toOpenAIResponses(said)
      return { messages: input, losses }
    }
    case 'openai-chat':
      return toOpenAIChat(said)
    case 'gemini': {
      const { contents, losses } = toGemini(said)
      return { messages: contents, losses }
    }
    case 'ai-sdk':
      return toAiSdk(said)
  }
}

export function toTokenState(entries: readonly Entry[]): TokenState {
  const bills = new Map<string, Usage>()
  const billing = createBilling()
  for (const entry of entries) {
    const { key, usage } = billing.add(entry) ?? {}
    if (key !== undefined && usage !== undefined) bills.set(key, usage)
  }
  let billed = NO_USAGE
  for (const usage of bills.values()) billed = addUsage(billed, usage)
  return { context: toContextSize(entries), billed }
}
