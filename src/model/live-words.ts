import type { EndReason, LivePrompt } from './live-session.ts'

const END_REASONS: readonly EndReason[] = [
  'ended',
  'idle',
  'orphaned',
  'agent-closed',
  'agent-crashed',
  'agent-failed',
  'start-failed',
  'host-stopped',
  'host-gone',
]
const PROMPT_STATES: readonly LivePrompt['state'][] = [
  'queued',
  'sent',
  'undelivered',
  'in-doubt',
  'delivered',
]

/** Reads why a live session is over. */
export function findEndReason(value: unknown): EndReason | undefined {
  return END_REASONS.find((known) => known === value)
}

/** Reads how far a prompt has come. */
export function findPromptState(value: unknown): LivePrompt['state'] | undefined {
  return PROMPT_STATES.find((known) => known === value)
}
