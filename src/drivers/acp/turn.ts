import { number, object, string } from '#base'
import { faultOf, type TurnOutcome } from '#model'
import type { AgentFact } from '../driver.ts'
import type { AcpConnection } from './acp-connection.ts'
import { needsLogin, toWords } from './acp-errors.ts'
import { toOutcome, type UpdateReader } from './read-update.ts'
import type { WaitingPrompt } from './turn-queue.ts'

/** One prompt, and everything until the agent is done with it. */
export interface Turn {
  /** Aborted when it is stopped or over: what it asks is withdrawn. */
  readonly signal: AbortSignal
  /** Resolves when it was told how it ended, or when the agent is gone. */
  readonly over: Promise<void>
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

  async function run(): Promise<void> {
    tell({ kind: 'turn.started', promptId: prompt.id })
    tell({ kind: 'message', id: prompt.id, role: 'person', blocks: prompt.blocks })
    const answer = connection.request('session/prompt', { sessionId, prompt: content })
    take()
    const outcome = await answer.then(toOutcome, (cause: unknown) => toFailure(cause, stopped.signal))
    // An agent that is gone has not answered, whatever its connection says: that it is gone is told instead.
    if (connection.isClosed()) return
    stopped.abort()
    const { facts, failure } = reader.finish()
    for (const fact of facts) tell(fact)
    const isFailed = outcome.kind === 'answered' && failure !== undefined
    tell({ kind: 'turn.ended', outcome: isFailed ? toFailed(failure, undefined) : outcome })
  }

  return { signal: stopped.signal, over: run(), stop: () => stopped.abort() }
}

function toFailure(cause: unknown, stopped: AbortSignal): TurnOutcome {
  if (stopped.aborted) return { kind: 'interrupted' }
  return toFailed(toWords(cause), cause)
}

function toFailed(message: string, cause: unknown): TurnOutcome {
  const status = findStatus(cause, message)
  const isFinal = status !== undefined && status < 500 && status !== 408 && status !== 429
  const isLogin = needsLogin(number(cause, 'code'), message)
  const fault = isLogin ? 'account' : faultOf(message, status ?? impliedStatus(cause, message))
  return { kind: 'failed', message, status, retry: !isFinal && !isLogin && fault !== 'session', fault }
}

/** The protocol has no place for the status of a model that could not be asked; agents say it in words. */
function findStatus(cause: unknown, message: string): number | undefined {
  const data = object(cause, 'data')
  const told = number(data, 'status') ?? number(data, 'httpStatusCode') ?? number(data, 'statusCode')
  if (told !== undefined) return told
  const [, words] = /\b(?:status|http|error|code)\W{0,12}([45]\d\d)\b/iu.exec(message) ?? []
  return words === undefined ? undefined : Number(words)
}

/** opencode tells no status. What may work later it tries again by itself, so what it tells of an API was refused. */
function impliedStatus(cause: unknown, message: string): number | undefined {
  const isRefused = string(object(cause, 'data'), 'errorName') === 'APIError'
  return isRefused && !/not found|does not exist|no such/iu.test(message) ? 400 : undefined
}
