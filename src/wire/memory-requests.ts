import { boolean, field, list, number, object, string, ThroughlineError, type JsonObject } from '#base'
import { isDocumentCategory, isDocumentType, type DocumentAudience, type DocumentCategory } from '#model'
import { isDocumentId } from './document-id.ts'
import type {
  DocumentAction,
  PickedAt,
  QueryOptions,
  RecallRequest,
  RememberRequest,
  WakeElsewhereRequest,
  WakeUpRequest,
} from './memory-calls.ts'
import { readPreviousTranscript } from './previous-transcript.ts'
import { isSessionId, type QueryValues } from './requests.ts'

/** Longer than any path that a system takes. */
const LONGEST_WORD = 4096
/** A remembered thing is read by people. */
const LONGEST_TEXT = 1024 * 1024
const LIMIT = 1_000_000
const SCOPES = ['private', 'workdir', 'team'] as const

/** Every reader here throws `request-invalid` for a value that cannot be meant, and names it. */
export function readRememberRequest(body: JsonObject): RememberRequest {
  const type = string(body, 'type')
  if (body['type'] !== undefined && (!isDocumentType(type) || type === 'message')) {
    throw invalid('type has a value nobody knows', 'Give learning, marker, teaching or artifact.')
  }
  const content = string(body, 'content')
  if (content === undefined || content.length > LONGEST_TEXT) {
    throw invalid('content is missing or too long', 'Say what to remember: `{ "content": "…" }`.')
  }
  const speaker = choice(body, 'speaker', ['human', 'agent'] as const)
  return {
    content,
    ...(isDocumentType(type) && type !== 'message' ? { type } : {}),
    ...optional('category', readCategory(body)),
    ...optional('tags', texts(body, 'tags')),
    ...optional('pinned', flag(body, 'pinned')),
    ...optional('expiresAt', time(body, 'expiresAt')),
    ...optional('audience', readAudience(body)),
    ...optional('scope', choice(body, 'scope', SCOPES)),
    ...optional('files', texts(body, 'files')),
    ...optional('workdir', word(body, 'workdir')),
    ...optional('at', readPickedAt(body)),
    ...optional('supersedes', word(body, 'supersedes')),
    ...optional('speaker', speaker),
    ...optional('agent', word(body, 'agent')),
    ...optional('near', readNear(body)),
    ...optional('keepSecret', flag(body, 'keepSecret')),
  }
}

export function readDocumentAction(body: JsonObject): DocumentAction {
  const what = string(body, 'do')
  switch (what) {
    case 'retire':
    case 'delete':
    case 'pin':
    case 'unpin':
    case 'approve':
      return { do: what }
    case 'restore': {
      const from = number(body, 'from')
      if (body['from'] !== undefined && (from === undefined || !Number.isSafeInteger(from) || from < 1)) {
        throw invalid('from is no version', 'Give a whole number from 1 on.')
      }
      return { do: what, ...optional('from', from) }
    }
    case 'supersede':
      return { do: what, newer: required(body, 'newer', 'Say which document stands for it now.') }
    case 'expire':
      return { do: what, ...optional('at', time(body, 'at')) }
    case 'reconcile':
      return { do: what, with: required(body, 'with', 'Say with which document.') }
    case 'share': {
      const scope = choice(body, 'scope', SCOPES)
      if (scope === undefined) throw invalid('scope is missing', 'Give private, workdir or team.')
      return { do: what, scope }
    }
    case 'decide':
      return { do: what, key: required(body, 'key', 'Say which version is kept, by its key.') }
    case 'merge': {
      const others = texts(body, 'others') ?? []
      if (others.length === 0) throw invalid('others is empty', 'Say which documents it stands for.')
      return { do: what, others, ...optional('content', word(body, 'content', LONGEST_TEXT)) }
    }
    default:
      throw invalid(
        'do has a value nobody knows',
        'Give retire, delete, restore, supersede, pin, unpin, expire, approve, reconcile, share, decide or merge.',
      )
  }
}

/** The version that somebody was shown what they change in. */
export function readShownVersion(body: JsonObject): { readonly version?: number } {
  const version = number(body, 'version')
  if (body['version'] === undefined) return {}
  if (version !== undefined && Number.isSafeInteger(version) && version >= 1) return { version }
  throw invalid('version is none', 'Give the number of the version that was shown, or leave it out.')
}

export function readQueryLimit(value: unknown): QueryOptions {
  if (value === undefined || value === '') return {}
  const limit = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= 1 && limit <= LIMIT)
    return { limit }
  throw invalid(`limit is not a number from 1 to ${LIMIT}`, `Give a whole number from 1 to ${LIMIT}.`)
}

export function readWakeUpRequest(body: JsonObject): WakeUpRequest {
  return {
    workdir: required(body, 'workdir', 'Say for which folder.'),
    ...optional('agent', word(body, 'agent')),
    ...optional('prompt', word(body, 'prompt', LONGEST_TEXT)),
    ...optional('format', choice(body, 'format', ['xml', 'md'] as const)),
    ...optional('team', flagOrWord(body, 'team')),
    ...optional('previousTranscript', readPreviousTranscript(field(body, 'previousTranscript'))),
  }
}

export function readWakeElsewhereRequest(body: JsonObject): WakeElsewhereRequest {
  const sessionId = string(body, 'sessionId')
  if (sessionId === undefined || !isSessionId(sessionId)) {
    throw invalid('sessionId is none', 'Give the id of the session that begins.')
  }
  const reason = choice(body, 'reason', ['startup', 'resume', 'clear', 'compact'] as const)
  if (reason === undefined) throw invalid('reason is missing', 'Give startup, resume, clear or compact.')
  const characters = number(body, 'characters')
  if (body['characters'] !== undefined && (characters === undefined || characters < 0)) {
    throw invalid('characters is no number', 'Say how long the text may be.')
  }
  return {
    sessionId,
    reason,
    workdir: required(body, 'workdir', 'Say in which folder.'),
    agent: required(body, 'agent', 'Say which agent: `claude`.'),
    ...optional('characters', characters),
  }
}

export function readRecallRequest(query: QueryValues): RecallRequest {
  const question = query.get('q') ?? ''
  if (question.trim() === '') throw invalid('q is missing', 'Say what is asked: `?q=…`.')
  const workdir = query.get('workdir') ?? ''
  return { question, ...(workdir === '' ? {} : { workdir }), ...readQueryLimit(query.get('limit')) }
}

/** The text that tags are wanted for. */
export function readTagText(body: JsonObject): string {
  const text = string(body, 'text')
  if (text !== undefined && text.length <= LONGEST_TEXT) return text
  throw invalid('text is missing or too long', 'Give the text that tags are wanted for.')
}

function readCategory(body: JsonObject): DocumentCategory | undefined {
  const category = string(body, 'category')
  if (body['category'] === undefined) return undefined
  if (isDocumentCategory(category)) return category
  throw invalid('category has a value nobody knows', 'Give transcript, identity, knowledge or operational.')
}

function readAudience(body: JsonObject): DocumentAudience | undefined {
  if (body['audience'] === undefined) return undefined
  const audience = object(body, 'audience')
  if (audience === undefined) throw invalid('audience is none', 'Give `{ "agents": […], "workdirs": […] }`.')
  return { agents: texts(audience, 'agents') ?? [], workdirs: texts(audience, 'workdirs') ?? [] }
}

function readPickedAt(body: JsonObject): PickedAt | undefined {
  if (body['at'] === undefined) return undefined
  const at = object(body, 'at') ?? {}
  const hint = 'Give `{ "sessionId": "…", "entryId": "…", "block": 0, "position": 0 }`.'
  for (const key of ['block', 'position']) {
    const given = number(at, key)
    if (at[key] !== undefined && (given === undefined || !Number.isSafeInteger(given) || given < 0)) {
      throw invalid(`at.${key} is no whole number`, hint)
    }
  }
  return {
    sessionId: required(at, 'sessionId', hint),
    entryId: required(at, 'entryId', hint),
    ...optional('block', number(at, 'block')),
    ...optional('position', number(at, 'position')),
  }
}

function readNear(body: JsonObject): RememberRequest['near'] {
  if (body['near'] === undefined) return undefined
  const near = object(body, 'near') ?? {}
  const chosen = choice(near, 'choice', ['update', 'keep-both', 'ignore'] as const)
  const id = string(near, 'id')
  if (chosen !== undefined && id !== undefined && isDocumentId(id)) return { choice: chosen, id }
  throw invalid(
    'near is no decision',
    'Give `{ "choice": "update", "id": "…" }`: update, keep-both or ignore.',
  )
}

function choice<V extends string>(body: JsonObject, key: string, known: readonly V[]): V | undefined {
  const given = body[key]
  if (given === undefined || given === '') return undefined
  const found = known.find((one) => one === given)
  if (found !== undefined) return found
  throw invalid(`${key} has a value nobody knows`, `Give one of ${known.join(', ')}.`)
}

function word(body: JsonObject, key: string, longest: number = LONGEST_WORD): string | undefined {
  const given = body[key]
  if (given === undefined) return undefined
  if (typeof given === 'string' && given !== '' && given.length <= longest) return given
  throw invalid(`${key} is empty, too long or no text`, `Give up to ${longest} characters.`)
}

function required(body: JsonObject, key: string, hint: string): string {
  const given = word(body, key)
  if (given !== undefined) return given
  throw invalid(`${key} is missing`, hint)
}

function texts(body: JsonObject, key: string): readonly string[] | undefined {
  if (body[key] === undefined) return undefined
  const given = list(body, key).filter((one) => typeof one === 'string')
  if (Array.isArray(body[key]) && given.length === body[key].length) return given
  throw invalid(`${key} is no list of texts`, 'Give a list of texts.')
}

function flag(body: JsonObject, key: string): boolean | undefined {
  const given = boolean(body, key)
  if (body[key] === undefined || given !== undefined) return given
  throw invalid(`${key} is neither true nor false`, 'Give `true` or `false`.')
}

/** In an address it is a word. */
function flagOrWord(body: JsonObject, key: string): boolean | undefined {
  const given = body[key]
  return given === 'true' ? true : given === 'false' ? false : flag(body, key)
}

function time(body: JsonObject, key: string): string | undefined {
  const given = body[key]
  if (given === undefined) return undefined
  if (typeof given === 'string' && !Number.isNaN(Date.parse(given))) return given
  throw invalid(`${key} is no time`, 'Write it as 2026-11-15T09:30:00Z.')
}

function optional<K extends string, V>(key: K, value: V | undefined): { readonly [key in K]?: V } {
  const made: { [key in K]?: V } = {}
  if (value !== undefined) made[key] = value
  return made
}

function invalid(message: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', message, { hint })
}
