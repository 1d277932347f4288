import { list, number, object, string } from '#base'
import { faultOf, type TurnOutcome, type Usage } from '#model'
import type { AgentFact } from '../driver.ts'
import type { AcpConnection } from './acp-connection.ts'
import { needsLogin, toSentence, toWords } from './acp-errors.ts'
import type { UpdateReader } from './read-update.ts'
import type { WaitingPrompt } from './turn-queue.ts'

/** One prompt, and everything until the agent is done with it. */
export interface Turn {
  /** Aborted when it is stopped or over: what it asks is withdrawn. */
  readonly signal: AbortSignal
  /** Resolves when it was told how it ended, or when the agent is gone. */
  readonly over: Promise<void>
  /** Nothing more is told of it. */
  isOver(): boolean
  /** It is being stopped: what it asks is withdrawn. */
  stop(): void
}

/** Hands a prompt to the agent and tells what comes of it. */
export function openTurn(parts: {
  readonly connection: AcpConnection
  readonly sessionId: string
  readonly waiting: WaitingPrompt
  readonly reader: UpdateReader
  readonly tell: (fact: AgentFact) => void
}): Turn {
  const { connection, sessionId, waiting, reader, tell } = parts
  const { prompt, content, take } = waiting
  const stopped = new AbortController()
  let isOver = false

  async function run(): Promise<void> {
    tell({ kind: 'turn.started', promptId: prompt.id })
    tell({ kind: 'message', id: prompt.id, role: 'person', blocks: prompt.blocks })
    const answer = connection.request('session/prompt', { sessionId, prompt: content })
    take()
    const outcome = await answer.then(toOutcome, (cause: unknown) => toFailure(cause, stopped.signal))
    isOver = true
    // An agent that is gone has not answered, whatever its connection says: that it is gone is told instead.
    if (connection.isClosed()) return
    stopped.abort()
    const { facts, failure, ...spent } = reader.finish()
    for (const fact of facts) tell(fact)
    tell({ kind: 'turn.ended', outcome: withSpent(outcome, failure, spent) })
  }

  return { signal: stopped.signal, over: run(), isOver: () => isOver, stop: () => stopped.abort() }
}

/** How the turn ended, with what it took. An agent may call a turn answered in which its model could not be asked. */
function withSpent(
  outcome: TurnOutcome,
  failure: string | undefined,
  { context, costUsd }: Pick<ReturnType<UpdateReader['finish']>, 'context' | 'costUsd'>,
): TurnOutcome {
  if (outcome.kind !== 'answered') return outcome
  if (failure !== undefined) return toFailed(toSentence(failure), undefined)
  return {
    ...outcome,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(context === undefined ? {} : { context }),
  }
}

function toFailure(cause: unknown, stopped: AbortSignal): TurnOutcome {
  if (stopped.aborted) return { kind: 'interrupted' }
  return toFailed(toWords(cause), cause)
}

function toFailed(message: string, cause: unknown): TurnOutcome {
  const status = findStatus(cause, message)
  const isFinal = status !== undefined && status < 500 && status !== 408 && status !== 429
  const isLogin = needsLogin(number(cause, 'code'), message)
  const fault = isLogin ? 'account' : faultOf(message, status ?? impliedStatus(message))
  const retry = !isFinal && fault !== 'account' && fault !== 'session'
  return { kind: 'failed', message, status, retry, fault }
}

/** The protocol has no place for the status of a model that could not be asked; agents say it in words. */
function findStatus(cause: unknown, message: string): number | undefined {
  const data = object(cause, 'data')
  const told = number(data, 'status') ?? number(data, 'httpStatusCode') ?? number(data, 'statusCode')
  if (told !== undefined) return told
  // Gemini CLI puts it in the place of the protocol's own numbers, which are negative.
  const code = number(cause, 'code')
  if (code !== undefined && code >= 400 && code < 600) return code
  const [, words] = /\b(?:status|http|error|code)\W{0,12}([45]\d\d)\b/iu.exec(message) ?? []
  return words === undefined ? undefined : Number(words)
}

/**
 * opencode tells no status, only the words of the provider. Where these say nothing either, nothing is said of whose
 * fault it is: the same may work later.
 */
function impliedStatus(message: string): number | undefined {
  if (REFUSED.test(message)) return 400
  if (LIMITED.test(message)) return 429
  if (BROKEN.test(message)) return 500
  const named = /\b(?:400|401|402|403|408|409|413|422|429|50[0234]|529)\b/u.exec(message)?.[0]
  return named === undefined ? undefined : Number(named)
}

const REFUSED =
  /invalid_request|\bmessages?\.\d+|\bcontents?\[\d+|\binput\[\d+|content blocks?\b|too long|context length/iu
const LIMITED = /rate.?limit|too many requests|quota|resource.?(?:has been )?exhausted|usage limit/iu
const BROKEN =
  /overloaded|unavailable|internal server error|bad gateway|timed? ?out|econn|socket|network|connection to the provider|fetch failed/iu

/** How a turn ended, as the agent's answer to a prompt says it. */
function toOutcome(response: unknown): TurnOutcome {
  const reason = string(response, 'stopReason')
  switch (reason) {
    case 'end_turn': {
      const quota = object(object(response, '_meta'), 'quota')
      const usage = toUsage(object(response, 'usage')) ?? toCountedUsage(object(quota, 'token_count'))
      const model = findModel(quota)
      return {
        kind: 'answered',
        ...(usage === undefined ? {} : { usage }),
        ...(model === undefined ? {} : { model }),
      }
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

/** Gemini CLI gives what all requests of a turn took, what came from a cache among it. */
function toCountedUsage(count: unknown): Usage | undefined {
  const input = number(count, 'input_tokens')
  const output = number(count, 'output_tokens')
  if (input === undefined || output === undefined) return undefined
  return { input, output, cacheRead: 0, cacheCreation: 0, cacheCreation5m: 0, cacheCreation1h: 0 }
}

/** The model that took most of a turn. */
function findModel(quota: unknown): string | undefined {
  const most = list(quota, 'model_usage').toSorted((a, b) => sizeOf(b) - sizeOf(a))[0]
  return string(most, 'model')
}

function sizeOf(part: unknown): number {
  const count = object(part, 'token_count')
  const sum = (number(count, 'input_tokens') ?? 0) + (number(count, 'output_tokens') ?? 0)
  return number(count, 'totalTokens') ?? sum
}
