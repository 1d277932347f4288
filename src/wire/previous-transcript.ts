import { isObject, list, string, ThroughlineError } from '#base'
import type { PreviousTranscript } from './memory-calls.ts'
import { isSessionId } from './requests.ts'

/** Longer than any id. */
const LONGEST_ID = 4096

/**
 * A transcript that a client kept itself; `undefined` when there is none. A list is the messages alone, as apps of
 * before kept them: with `speakerType` or `role`, and `speakerName`. Throws `request-invalid`.
 */
export function readPreviousTranscript(value: unknown): PreviousTranscript | undefined {
  if (value === undefined) return undefined
  if (Array.isArray(value)) return readKeptMessages(value)
  if (!isObject(value)) throw invalid('previousTranscript is none')
  const messages = list(value, 'messages').map(readSpoken)
  const [sessionId, ended] = [string(value, 'sessionId') ?? '', string(value, 'ended') ?? '']
  if (Number.isNaN(Date.parse(ended))) throw invalid('previousTranscript.ended is no time')
  if (sessionId === '' || sessionId.length > LONGEST_ID)
    throw invalid('previousTranscript.sessionId is missing')
  return { sessionId, ended, messages }
}

const TRANSCRIPT_HINT =
  'Give `{ "sessionId", "ended", "messages": [{ "speaker": "human", "text": "…" }] }`, or the messages alone.'

/** Which session it was and when it ended is said by the messages, or by nothing. */
function readKeptMessages(all: readonly unknown[]): PreviousTranscript {
  const last = all.at(-1)
  const id = string(last, 'serverSessionId') ?? string(last, 'sessionId')
  const at = string(last, 'createdAt') ?? string(last, 'timestamp')
  return {
    sessionId: id !== undefined && isSessionId(id) ? id : '',
    ended: at === undefined || Number.isNaN(Date.parse(at)) ? '' : new Date(at).toISOString(),
    messages: all.map(readSpoken),
  }
}

function readSpoken(one: unknown): PreviousTranscript['messages'][number] {
  const speaker = SPEAKERS.get(
    string(one, 'speaker') ?? string(one, 'speakerType') ?? string(one, 'role') ?? '',
  )
  const text = string(one, 'text')
  const id = string(one, 'id')
  const name = string(one, 'name') ?? string(one, 'speakerName')
  if (speaker === undefined || text === undefined) {
    throw invalid('previousTranscript has a message that is none')
  }
  return {
    speaker,
    text,
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
  }
}

const SPEAKERS: ReadonlyMap<string, 'human' | 'agent'> = new Map([
  ['human', 'human'],
  ['user', 'human'],
  ['agent', 'agent'],
  ['assistant', 'agent'],
])

function invalid(message: string): ThroughlineError {
  return new ThroughlineError('request-invalid', message, { hint: TRANSCRIPT_HINT })
}
