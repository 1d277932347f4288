import { field, isObject, list, number, object, string } from '#base'
import type { ErrorCode } from '#base'
import { isErrorCode, ThroughlineError } from '#base'
import type { Answer, NewPrompt, PermissionMode, SessionCursor, SessionEvent, SessionView } from '#model'
import { readAttention, readAttentionState, readResolution } from '#wire'
import { findMode } from '#model'
import { readPromptBlocks } from '#wire'

/** What a host and those who talk to it agree on. Another number: they do not understand one another. */
export const HOST_PROTOCOL = 1

/** What can be asked of a host. */
export type HostCommand =
  | { readonly do: 'hello'; readonly protocol: number }
  | { readonly do: 'listen'; readonly after?: SessionCursor | undefined }
  | { readonly do: 'prompt'; readonly prompt: NewPrompt }
  | { readonly do: 'resolve'; readonly answer: Answer }
  | { readonly do: 'interrupt' }
  | { readonly do: 'mode'; readonly mode: PermissionMode; readonly by: string }
  | { readonly do: 'model'; readonly model: string; readonly by: string }
  | { readonly do: 'end' }

/** Who a host is. */
export interface HostHello {
  readonly protocol: number
  readonly sessionId: string
  readonly run: string
  readonly pid: number
}

/** What a host says: an answer to the command of this number, or news. */
export type HostWord =
  | { readonly re: number; readonly value: unknown }
  | { readonly re: number; readonly error: ThroughlineError }
  | { readonly view: SessionView }
  | { readonly event: SessionEvent }

/** Reads a command. `undefined` when it is none, or any part of it is not what it should be. */
export function findHostCommand(value: unknown): HostCommand | undefined {
  const by = string(value, 'by') ?? ''
  switch (string(value, 'do')) {
    case 'hello': {
      const protocol = number(value, 'protocol')
      return protocol === undefined ? undefined : { do: 'hello', protocol }
    }
    case 'listen':
      return { do: 'listen', after: readCursor(field(value, 'after')) }
    case 'prompt': {
      const prompt = object(value, 'prompt')
      const id = string(prompt, 'id')
      const blocks = readPromptBlocks(field(prompt, 'blocks'))
      if (id === undefined || id === '' || id.length > 128 || !blocks) return undefined
      return { do: 'prompt', prompt: { id, blocks, by: string(prompt, 'by') ?? '' } }
    }
    case 'resolve': {
      const answer = object(value, 'answer')
      const id = string(answer, 'id')
      const hash = string(answer, 'hash')
      const resolution = readResolution(field(answer, 'resolution'))
      if (id === undefined || hash === undefined || !resolution) return undefined
      return { do: 'resolve', answer: { id, hash, resolution, by: string(answer, 'by') ?? '' } }
    }
    case 'interrupt':
      return { do: 'interrupt' }
    case 'mode': {
      const mode = findMode(field(value, 'mode'))
      return mode && { do: 'mode', mode, by }
    }
    case 'model': {
      const model = string(value, 'model')
      return model === undefined ? undefined : { do: 'model', model, by }
    }
    case 'end':
      return { do: 'end' }
    default:
      return undefined
  }
}

/** Reads what a host says. A word that is none is `undefined`. */
export function findHostWord(value: unknown): HostWord | undefined {
  const re = number(value, 're')
  if (re !== undefined) {
    const error = object(value, 'error')
    return error ? { re, error: toError(error) } : { re, value: field(value, 'value') }
  }
  const view = field(value, 'view')
  if (isView(view)) return { view }
  const event = field(value, 'event')
  return isEvent(event) ? { event } : undefined
}

/** An error as it is said to somebody on the other side. */
export function fromError(error: unknown): {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
} {
  if (error instanceof ThroughlineError) return { code: error.code, message: error.message, hint: error.hint }
  const message = error instanceof Error ? error.message : 'something failed that should not have'
  return { code: 'internal', message, hint: 'See what the host has left in the folder `run`.' }
}

/** The error that was said by the other side. */
export function toError(said: unknown): ThroughlineError {
  const code = string(said, 'code')
  return new ThroughlineError(
    isErrorCode(code) ? code : 'internal',
    string(said, 'message') ?? 'something failed',
    {
      hint: string(said, 'hint') ?? '',
    },
  )
}

function readCursor(value: unknown): SessionCursor | undefined {
  const run = string(value, 'run')
  const seq = number(value, 'seq')
  return run === undefined || seq === undefined ? undefined : { run, seq }
}

/** Reads who a host is. */
export function findHello(value: unknown): HostHello | undefined {
  const protocol = number(value, 'protocol')
  const sessionId = string(value, 'sessionId')
  const run = string(value, 'run')
  const pid = number(value, 'pid')
  if (protocol === undefined || sessionId === undefined || run === undefined || pid === undefined)
    return undefined
  return { protocol, sessionId, run, pid }
}

/** Both sides are ours and of one protocol; this asks for what would do harm if it were missing. */
function isView(value: unknown): value is SessionView {
  return (
    isObject(value) &&
    string(value, 'sessionId') !== undefined &&
    string(value, 'run') !== undefined &&
    number(value, 'seq') !== undefined &&
    isState(field(value, 'state')) &&
    findMode(field(value, 'mode')) !== undefined &&
    Array.isArray(field(value, 'prompts')) &&
    Array.isArray(field(value, 'attentions')) &&
    list(value, 'attentions').every((attention) => readAttention(attention) !== undefined)
  )
}

function isState(value: unknown): boolean {
  return ['pending', 'idle', 'running', 'waiting', 'ended'].includes(string(value, 'state') ?? '')
}

function isEvent(value: unknown): value is SessionEvent {
  if (number(value, 'seq') === undefined || string(value, 'at') === undefined) return false
  switch (string(value, 'kind')) {
    case 'state.changed':
      return isState(field(value, 'state'))
    case 'prompt.admitted':
      return string(object(value, 'prompt'), 'id') !== undefined
    case 'attention.opened':
      return readAttention(field(value, 'attention')) !== undefined
    case 'attention.settled':
      return readAttentionState(field(value, 'state')) !== undefined
    case 'mode.changed':
      return findMode(field(value, 'mode')) !== undefined
    case 'delta':
      return string(value, 'text') !== undefined && string(value, 'messageId') !== undefined
    case 'message':
      return Array.isArray(field(value, 'blocks'))
    case 'turn.ended':
      return object(value, 'outcome') !== undefined
    case 'prompt.moved':
    case 'model.changed':
    case 'session.renamed':
    case 'agent.started':
    case 'turn.started':
    case 'retrying':
    case 'trouble.noticed':
    case 'unknown':
      return true
    default:
      return false
  }
}
