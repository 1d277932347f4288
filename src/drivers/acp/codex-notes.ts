import { boolean, isObject, number, object, string } from '#base'
import type { RetryingFact } from '#model'

/** What the adapter of Codex says beside the protocol, which has no words for it. */
export type CodexNote =
  /** The model could not be asked: what is said from here to the end of the turn, it says in the agent's place. */
  { readonly kind: 'failed' } | RetryingFact

/** Reads the note of an update, if it has one. */
export function findCodexNote(update: unknown): CodexNote | undefined {
  const codex = object(object(update, '_meta'), 'codex')
  if (string(object(codex, 'threadStatus'), 'type') === 'systemError') return { kind: 'failed' }
  const error = object(codex, 'error')
  if (!error || boolean(error, 'willRetry') !== true) return undefined
  const message = string(error, 'message') ?? ''
  const [, attempt = '1', attempts = attempt] = /(\d+)\s*\/\s*(\d+)/u.exec(message) ?? []
  return {
    kind: 'retrying',
    message: string(error, 'additionalDetails') ?? message,
    status: findStatus(error['codexErrorInfo']),
    attempt: Number(attempt),
    attempts: Number(attempts),
    inMs: 0,
  }
}

/** It stands in an object that is named after what went wrong. */
function findStatus(info: unknown): number | undefined {
  const values = isObject(info) ? Object.values(info) : []
  return values.map((value) => number(value, 'httpStatusCode')).find((status) => status !== undefined)
}
