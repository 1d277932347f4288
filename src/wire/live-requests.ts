import { boolean, field, isObject, object, string, ThroughlineError, type JsonObject } from '#base'
import { findMode, type PermissionMode } from '#model'
import { readAsk, readResolution } from './attention-json.ts'
import type {
  AnswerRequest,
  AskRequest,
  ForkRequest,
  PromptRequest,
  RenewRequest,
  ResumeRequest,
  RunRequest,
  StartRequest,
  TrustChoice,
} from './live-calls.ts'
import { readPreviousTranscript } from './previous-transcript.ts'
import { readPromptBlocks } from './prompt-json.ts'
import { isSessionId } from './requests.ts'

/** Longer than any path that a system takes, any model's name, any hash. */
const LONGEST_WORD = 4096

/** Every reader here throws `request-invalid` for a value that cannot be meant, and names it. */
export function readStartRequest(body: JsonObject): StartRequest {
  const sessionId = word(body, 'sessionId')
  if (sessionId !== undefined && !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(sessionId)) {
    throw invalid('sessionId is no UUID', 'Leave it out, or mint one: lower case, with dashes.')
  }
  const previousTranscript = readPreviousTranscript(field(body, 'previousTranscript'))
  return {
    ...readRun(body),
    agent: word(body, 'agent') ?? 'claude',
    workdir: required(body, 'workdir', 'Say in which folder: `{ "workdir": "/home/you/shop" }`.'),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...flag(body, 'wakeUp'),
    ...(previousTranscript === undefined ? {} : { previousTranscript }),
  }
}

export function readResumeRequest(body: JsonObject): ResumeRequest {
  return { ...readRun(body), ...flag(body, 'takeOver'), ...optional(body, 'workdir') }
}

export function readForkRequest(body: JsonObject): ForkRequest {
  return { ...readRun(body), ...optional(body, 'at'), ...optional(body, 'workdir') }
}

export function readRenewRequest(body: JsonObject): RenewRequest {
  return { ...readRun(body), ...flag(body, 'wakeUp') }
}

export function readPromptRequest(body: JsonObject): PromptRequest {
  const id = string(body, 'id')
  if (id === undefined || !isSessionId(id)) {
    throw invalid(
      'the prompt has no id',
      'Mint one on the device, a UUID: with it the prompt can be sent again.',
    )
  }
  const blocks = readPromptBlocks(field(body, 'blocks'))
  if (blocks === undefined) {
    throw invalid(
      'blocks is no list of text, images and documents',
      'Send `[{ "kind": "text", "text": "…" }]`.',
    )
  }
  return { id, blocks }
}

/** What stands in the path is the attention; the rest is what is said to it. */
export function readAnswerRequest(id: string, body: JsonObject): AnswerRequest {
  const resolution = readResolution(field(body, 'resolution'))
  if (resolution === undefined) {
    throw invalid('resolution is no answer', 'Give a `kind`: `allow`, `deny` or `answer`.')
  }
  if (resolution.kind === 'allow' && 'input' in resolution && !isObject(resolution.input)) {
    throw invalid('the changed input is no object', 'Leave `input` out to allow what was shown as it is.')
  }
  const hash = required(body, 'hash', 'Repeat the hash of what was shown: nobody agrees to anything else.')
  return { id, hash, resolution }
}

export function readModeChange(body: JsonObject): PermissionMode {
  const mode = readMode(body)
  if (mode !== undefined) return mode
  throw invalid('mode is missing', 'Give `plan`, `default` or `accept-edits`.')
}

export function readModelChange(body: JsonObject): string {
  return required(body, 'model', 'Give the name of a model.')
}

export function readFolder(body: JsonObject): string {
  return required(body, 'workdir', 'Say which folder.')
}

export function readTrustChoice(body: JsonObject): TrustChoice {
  const trusted = boolean(body, 'trusted')
  if (trusted === undefined) throw invalid('trusted is neither true nor false', 'Give `true` or `false`.')
  return { hash: required(body, 'hash', 'Repeat the hash of what was shown.'), trusted }
}

export function readAskRequest(body: JsonObject): AskRequest {
  const sessionId = string(body, 'sessionId')
  const ask = readAsk(field(body, 'ask'))
  if (sessionId === undefined || !isSessionId(sessionId) || ask === undefined) {
    throw invalid('this asks nothing of a person', 'Give `sessionId`, `agent` and `ask`.')
  }
  return { sessionId, ask, agent: word(body, 'agent') ?? 'claude' }
}

function readRun(body: JsonObject): RunRequest {
  const mode = readMode(body)
  const prompt = object(body, 'prompt')
  if (body['prompt'] !== undefined && prompt === undefined) {
    throw invalid('prompt is no prompt', 'Give `{ "id": "…", "blocks": […] }`.')
  }
  return {
    ...optional(body, 'model'),
    ...(mode === undefined ? {} : { mode }),
    ...(prompt === undefined ? {} : { prompt: readPromptRequest(prompt) }),
  }
}

function readMode(body: JsonObject): PermissionMode | undefined {
  const given = body['mode']
  const mode = findMode(given)
  if (given === undefined || mode !== undefined) return mode
  throw invalid('mode has a value nobody knows', 'Give `plan`, `default` or `accept-edits`.')
}

function word(body: JsonObject, key: string): string | undefined {
  const given = isObject(body) ? body[key] : undefined
  if (given === undefined) return undefined
  if (typeof given === 'string' && given !== '' && given.length <= LONGEST_WORD) return given
  throw invalid(`${key} is empty, too long or no text`, `Give up to ${LONGEST_WORD} characters.`)
}

function required(body: JsonObject, key: string, hint: string): string {
  const given = word(body, key)
  if (given !== undefined) return given
  throw invalid(`${key} is missing`, hint)
}

function optional<K extends string>(body: JsonObject, key: K): { readonly [key in K]?: string } {
  const given = word(body, key)
  const made: { [key in K]?: string } = {}
  if (given !== undefined) made[key] = given
  return made
}

function flag<K extends string>(body: JsonObject, key: K): { readonly [key in K]?: boolean } {
  const given = boolean(body, key)
  if (body[key] !== undefined && given === undefined) {
    throw invalid(`${key} is neither true nor false`, 'Give `true` or `false`.')
  }
  const made: { [key in K]?: boolean } = {}
  if (given !== undefined) made[key] = given
  return made
}

function invalid(message: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', message, { hint })
}
