import { ThroughlineError, type ErrorCode } from '#base'
import { installCommand } from './sdk-place.ts'

/** The Agent SDK, from wherever the person who wants it installed it. */
export async function loadSdk(): Promise<typeof import('@anthropic-ai/claude-agent-sdk')> {
  try {
    return await import('@anthropic-ai/claude-agent-sdk')
  } catch (cause) {
    throw new ThroughlineError('driver-unavailable', 'the Claude Agent SDK is not installed', {
      hint: `Install it beside Throughline: \`${installCommand(import.meta.url)}\`.`,
      cause,
    })
  }
}

interface Reason {
  readonly says: RegExp
  readonly code: ErrorCode
  readonly hint: string
}

/** What Claude Code says when it does not start, and what is to be done then. */
const REASONS: readonly Reason[] = [
  {
    says: /no conversation found/iu,
    code: 'session-not-found',
    hint: 'Start a new session: Claude Code keeps nothing of this one in its configuration folder.',
  },
  {
    says: /no message found/iu,
    code: 'entry-not-found',
    hint: 'Fork from a prompt or an answer that is in the transcript.',
  },
  { says: /already in use/iu, code: 'request-invalid', hint: 'Resume the session, or fork it.' },
  {
    says: /dangerously-skip-permissions/iu,
    code: 'driver-unavailable',
    hint: 'Start the session in a mode in which it asks.',
  },
]

/** Why there is no agent. */
export function toStartError(lastWords: string | undefined, cause: unknown): ThroughlineError {
  const why = lastWords ?? (cause instanceof Error ? cause.message : 'it ended at once')
  const reason = REASONS.find(({ says }) => says.test(why))
  return new ThroughlineError(reason?.code ?? 'driver-unavailable', `Claude Code did not start: ${why}`, {
    hint:
      reason?.hint ??
      'Check that `claude --version` works in a terminal; install or update Claude Code if it does not.',
    cause,
  })
}

/** Why a prompt cannot be taken. */
export function toGone(why: string | undefined): ThroughlineError {
  return new ThroughlineError('agent-gone', `Claude Code is not running: ${why ?? 'it ended'}`, {
    hint: 'Resume the session to go on with it.',
  })
}

/** Why Claude Code did not do as it was told: a model that it does not know, for one. */
export function toRefused(cause: unknown): ThroughlineError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new ThroughlineError('request-invalid', `Claude Code refused: ${why}`, {
    hint: 'Choose something else; the session goes on as it was.',
    cause,
  })
}
