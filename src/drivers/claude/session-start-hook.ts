import { string, type JsonObject } from '#base'

/** What Claude Code hands to its `SessionStart` hook. */
export interface SessionStartHook {
  readonly sessionId: string
  readonly workdir: string
  /** Why it runs: a session began, goes on, was cleared, or has just been compacted. */
  readonly reason: 'startup' | 'resume' | 'clear' | 'compact'
  /** What the hook prints, so that the model is told this text. */
  readonly toOutput: (text: string) => JsonObject
}

const REASONS = ['startup', 'resume', 'clear', 'compact'] as const

/** Reads what a hook is given. `undefined` when no session starts. Never throws. */
export function readSessionStartHook(payload: unknown): SessionStartHook | undefined {
  const sessionId = string(payload, 'session_id')
  const workdir = string(payload, 'cwd')
  const reason = REASONS.find((known) => known === string(payload, 'source'))
  if (string(payload, 'hook_event_name') !== 'SessionStart') return undefined
  if (sessionId === undefined || workdir === undefined || reason === undefined) return undefined
  return {
    sessionId,
    workdir,
    reason,
    toOutput: (text) => ({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: text },
    }),
  }
}
