import { number, object, parseJson, string, ThroughlineError, type ErrorCode } from '#base'
import type { KnownAgent } from './known-agents.ts'

/** What an error needs to know of the agent to say what to do next. */
export type AgentName = Pick<KnownAgent, 'title' | 'install' | 'login'>

/** The protocol's own numbers for what went wrong. */
const AUTH_REQUIRED = -32_000
const NOT_FOUND = -32_002

/** The protocol's SDK, which nobody needs to load who runs no such agent. */
export async function loadSdk(): Promise<typeof import('@agentclientprotocol/sdk')> {
  try {
    return await import('@agentclientprotocol/sdk')
  } catch (cause) {
    throw new ThroughlineError('driver-unavailable', 'the SDK of the Agent Client Protocol is not there', {
      hint: 'Install Throughline again: it comes with it.',
      cause,
    })
  }
}

/** Why there is no agent, or no session: in words of the agent where it has any, with what to do about it. */
export function toStartError(
  agent: AgentName,
  why: string,
  {
    cause,
    resumed,
    hint,
  }: {
    readonly cause?: unknown
    readonly resumed?: string | undefined
    readonly hint?: string | undefined
  } = {},
): ThroughlineError {
  const reason = toReason(agent, { why, number: number(cause, 'code'), resumed })
  return new ThroughlineError(reason.code, `${agent.title} did not start: ${why}`, {
    hint: hint ?? reason.hint,
    cause,
  })
}

function toReason(
  agent: AgentName,
  said: { readonly why: string; readonly number: number | undefined; readonly resumed: string | undefined },
): { readonly code: ErrorCode; readonly hint: string } {
  if (needsLogin(said.number, said.why))
    return {
      code: 'not-logged-in',
      hint: `Run \`${agent.login}\` in a terminal and log in there, then try again.`,
    }
  if (said.resumed !== undefined && (said.number === NOT_FOUND || NO_SESSION.test(said.why)))
    return {
      code: 'session-not-found',
      hint: `Start a new session: ${agent.title} keeps nothing of ${said.resumed}.`,
    }
  return {
    code: 'driver-unavailable',
    hint: `Check that ${agent.title} works in a terminal; install or update it with \`${agent.install}\`.`,
  }
}

const NO_SESSION =
  /not found|no (?:such|previous|rollout|session|conversation)|unknown session|does not exist|invalid session/iu

/** Whether the agent says that it has no account. */
export function needsLogin(code: number | undefined, why: string): boolean {
  return code === AUTH_REQUIRED || /auth\w* required|not logged in|please log ?in|unauthenticated/iu.test(why)
}

export function toMissing(agent: AgentName, command: string): ThroughlineError {
  return new ThroughlineError('driver-unavailable', `there is no program ${command} to run ${agent.title}`, {
    hint: `Install it with \`${agent.install}\`, and see that it is on the search path.`,
  })
}

/** What a person did not trust must not act, and agents of this protocol cannot be told to leave it alone. */
export function toUntrusted(agent: AgentName, workdir: string): ThroughlineError {
  return new ThroughlineError('folder-untrusted', `${agent.title} would load what lies in ${workdir}`, {
    hint: 'Look at the folder and trust it first.',
  })
}

export function toGone(agent: AgentName, why: string | undefined): ThroughlineError {
  return new ThroughlineError('agent-gone', `${agent.title} is not running: ${why ?? 'it ended'}`, {
    hint: 'Resume the session to go on with it.',
  })
}

export function toRefused(agent: AgentName, cause: unknown): ThroughlineError {
  return new ThroughlineError('request-invalid', `${agent.title} refused: ${toWords(cause)}`, {
    hint: 'Choose something else; the session goes on as it was.',
    cause,
  })
}

/** The agent goes on with a session as if nothing had been said in it. */
export function toForgotten(agent: AgentName, sessionId: string): ThroughlineError {
  return new ThroughlineError(
    'history-not-loaded',
    `${agent.title} opened session ${sessionId} and found nothing of what was said in it`,
    {
      hint: `Nothing was asked of it. Check the folder and the configuration folder that ${agent.title} is run with, or write the session anew: \`throughline repair ${sessionId}\`.`,
    },
  )
}

/** What the agent cannot do at all. */
export function toUnable(agent: AgentName, what: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `${agent.title} cannot ${what}`, { hint })
}

/** What went wrong, as one sentence. The protocol's errors carry the better words beside the message. */
export function toWords(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const data: unknown = Object.getOwnPropertyDescriptor(cause, 'data')?.value
  const details = findWords(data)
  return toSentence(
    details === undefined || cause.message.includes(details) ? cause.message : `${cause.message}: ${details}`,
  )
}

/** What a provider said, without the JSON that some agents hand on as it came: `{"error":{"message":"…"}}`. */
export function toSentence(words: string): string {
  if (/^(?:internal error: )?terminated$/iu.test(words.trim()))
    return 'the connection to the provider was lost in the middle of the answer'
  const from = words.indexOf('{')
  if (from < 0) return words
  const error = parseJson(words.slice(from).trim())
  const inner = object(error, 'error') ?? error
  const said = string(inner, 'message')
  if (said === undefined || said === '') return words
  const kind = string(inner, 'type') ?? string(inner, 'status')
  const before = words.slice(0, from).trim()
  return [before, kind === undefined ? said : `${said} (${kind})`].filter((part) => part !== '').join(' ')
}

function findWords(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  if (typeof data !== 'object' || data === null) return undefined
  for (const key of ['details', 'message', 'error', 'reason']) {
    const value: unknown = Object.getOwnPropertyDescriptor(data, key)?.value
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}
