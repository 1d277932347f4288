import { field, string, ThroughlineError } from '#base'
import { findPromptState, type AnswerOutcome, type PromptReceipt } from '#model'
import { readAttentionState } from '#wire'

/** Reads what a host answers to a prompt. */
export function readReceipt(value: unknown): PromptReceipt {
  const id = string(value, 'id')
  const state = findPromptState(field(value, 'state'))
  if (id === undefined || state === undefined) throw notUnderstood()
  return { id, state }
}

/** Reads what a host answers to an answer. */
export function readOutcome(value: unknown): AnswerOutcome {
  const state = readAttentionState(field(value, 'state'))
  const kind = string(value, 'kind')
  if (!state || (kind !== 'won' && kind !== 'late')) throw notUnderstood()
  return { kind, state }
}

function notUnderstood(): ThroughlineError {
  return new ThroughlineError('host-unreachable', 'the process that holds this session is not understood', {
    hint: 'It is of another version. End the session and resume it.',
  })
}
