import { boolean, isObject, number, object, string, ThroughlineError } from '#base'
import { readDocumentQuery } from './document-requests.ts'
import type { DocumentQuery } from '#model'
import type { DeviceFrame } from './frames.ts'
import type { ListOptions } from './listing.ts'
import type { Topic } from './live.ts'
import type { PageOptions, PagePlace } from './page.ts'
import type { ConversationOptions } from './throughline.ts'
import type { SearchRequest } from './search.ts'
import type { UsageRequest } from './usage-report.ts'

/** The names and values of a query string, each name once. */
export type QueryValues = ReadonlyMap<string, string>

const LONGEST_QUERY = 4096
const LIVE = ['any', 'busy', 'waiting', 'idle', 'gone'] as const
const USAGE_KEYS = ['day', 'model', 'workdir', 'session'] as const
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Every reader here throws `request-invalid` for a value that cannot be meant, and names it. */
export function readListOptions(query: QueryValues): ListOptions {
  return {
    ...word(query, 'agent'),
    ...word(query, 'workdir'),
    ...word(query, 'text'),
    ...choice(query, 'live', LIVE),
    ...flag(query, 'starred'),
    ...flag(query, 'full'),
    ...count(query, 'limit', 1_000_000),
    ...word(query, 'cursor'),
  }
}

export function readPageOptions(query: QueryValues): PageOptions {
  return {
    limit: count(query, 'limit', 5000).limit ?? 100,
    ...word(query, 'before'),
    ...word(query, 'after'),
    ...around(query),
    ...word(query, 'subagent'),
    ...flag(query, 'raw'),
  }
}

const PLACES = ['entry', 'time', 'offset'] as const

function around(query: QueryValues): { readonly around?: PagePlace } {
  const given = PLACES.filter((name) => (query.get(name) ?? '') !== '')
  if (given.length > 1) throw invalid(`${given.join(' and ')} are two places`, 'Give only one of them.')
  const { entry } = word(query, 'entry')
  if (entry !== undefined) return { around: { entry } }
  const { time } = word(query, 'time')
  if (time !== undefined) return { around: { time: readTime(time) } }
  const offset = query.get('offset') ?? ''
  if (offset === '') return {}
  if (/^\d{1,15}$/.test(offset)) return { around: { offset: Number(offset) } }
  throw invalid('offset is not a place in a file', 'Give a whole number of bytes from 0 on.')
}

function readTime(time: string): string {
  if (!Number.isNaN(Date.parse(time))) return time
  throw invalid('time is none', 'Write it as 2026-11-15T09:30:00Z.')
}

export function readConversationOptions(query: QueryValues): ConversationOptions {
  return { ...flag(query, 'raw') }
}

export function readSearchRequest(query: QueryValues): SearchRequest {
  const { q } = word(query, 'q')
  if (q === undefined) throw invalid('q is missing', 'Say what to look for: `?q=…`.')
  return { q, ...count(query, 'limit', 200), ...word(query, 'cursor') }
}

export function readUsageRequest(query: QueryValues): UsageRequest {
  const { by } = choice(query, 'by', USAGE_KEYS)
  if (by === undefined) throw invalid('by is missing', `Give one of ${USAGE_KEYS.join(', ')}.`)
  return {
    by,
    ...day(query, 'since'),
    ...day(query, 'until'),
    ...word(query, 'workdir'),
    ...timeZone(query),
    ...choice(query, 'machines', ['this', 'mine'] as const),
  }
}

export type ExportFormat = 'jsonl' | 'md' | 'html'

export function readExportFormat(query: QueryValues): ExportFormat {
  return choice(query, 'format', ['jsonl', 'md', 'html'] as const).format ?? 'jsonl'
}

/** What a person changes about a session. A `name` of `null` takes it back. */
export interface SessionChange {
  readonly name?: string | null
  readonly starred?: boolean
}

export function readSessionChange(body: unknown): SessionChange {
  const name = isObject(body) ? body['name'] : undefined
  const starred = boolean(body, 'starred')
  if (isObject(body) && body['starred'] !== undefined && starred === undefined) {
    throw invalid('starred is neither true nor false', 'Give `true` or `false`.')
  }
  if (name !== undefined && name !== null && (typeof name !== 'string' || !isName(name))) {
    throw invalid(
      'the name is empty, too long or no text',
      'Give 1 to 200 characters, or null to take it back.',
    )
  }
  if (name === undefined && starred === undefined) {
    throw invalid('there is nothing to change', 'Give `name` or `starred`.')
  }
  return { ...(name === undefined ? {} : { name }), ...(starred === undefined ? {} : { starred }) }
}

function isName(text: string): boolean {
  return text.trim() !== '' && text.length <= 200
}

/** A frame that a device sent, or `undefined` when it is none. */
export function findDeviceFrame(value: unknown): DeviceFrame | undefined {
  const subscription = number(value, 'subscription')
  switch (string(value, 'kind')) {
    case 'ping':
      return { kind: 'ping' }
    case 'unsubscribe':
      return isSubscription(subscription) ? { kind: 'unsubscribe', subscription } : undefined
    case 'subscribe': {
      const topic = findTopic(object(value, 'topic'))
      if (topic === undefined || !isSubscription(subscription)) return undefined
      const cursor = string(value, 'cursor')
      if (cursor !== undefined && cursor.length > LONGEST_QUERY) return undefined
      return { kind: 'subscribe', subscription, topic, ...(cursor === undefined ? {} : { cursor }) }
    }
    default:
      return undefined
  }
}

function isSubscription(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0
}

function findTopic(value: unknown): Topic | undefined {
  switch (string(value, 'kind')) {
    case 'sessions':
    case 'board':
      return { kind: string(value, 'kind') === 'board' ? 'board' : 'sessions' }
    case 'live': {
      const id = string(value, 'id')
      return id === undefined || !isSessionId(id) ? undefined : { kind: 'live', id }
    }
    case 'documents': {
      const query = findDocumentQuery(object(value, 'query'))
      return query === undefined ? undefined : { kind: 'documents', query }
    }
    case 'query': {
      const q = string(value, 'q')
      return q === undefined || q.length > LONGEST_QUERY ? undefined : { kind: 'query', q }
    }
    case 'session': {
      const id = string(value, 'id')
      const subagent = string(value, 'subagent')
      const last = number(value, 'last')
      const raw = boolean(value, 'raw')
      if (id === undefined || !isSessionId(id)) return undefined
      return {
        kind: 'session',
        id,
        ...(subagent === undefined ? {} : { subagent }),
        ...(last === undefined ? {} : { last: Math.max(0, Math.floor(last)) }),
        ...(raw === undefined ? {} : { raw }),
      }
    }
    default:
      return undefined
  }
}

function findDocumentQuery(value: unknown): DocumentQuery | undefined {
  try {
    return readDocumentQuery(value)
  } catch {
    return undefined
  }
}

/** Whether a text can be the id of a session or of a device. Nothing else ever comes near a path. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text)
}

function word<K extends string>(query: QueryValues, key: K): { readonly [key in K]?: string } {
  const value = query.get(key)
  if (value === undefined || value === '') return {}
  if (value.length > LONGEST_QUERY)
    throw invalid(`${key} is too long`, `At most ${LONGEST_QUERY} characters.`)
  return record(key, value)
}

function flag<K extends string>(query: QueryValues, key: K): { readonly [key in K]?: boolean } {
  const value = query.get(key)
  if (value === undefined || value === '') return {}
  if (value !== '1' && value !== '0') throw invalid(`${key} is neither 1 nor 0`, 'Give 1 or 0.')
  return record(key, value === '1')
}

function count<K extends string>(query: QueryValues, key: K, most: number): { readonly [key in K]?: number } {
  const value = query.get(key)
  if (value === undefined || value === '') return {}
  if (!/^\d{1,9}$/.test(value) || Number(value) < 1 || Number(value) > most) {
    throw invalid(`${key} is not a number from 1 to ${most}`, `Give a whole number from 1 to ${most}.`)
  }
  return record(key, Number(value))
}

function choice<K extends string, V extends string>(
  query: QueryValues,
  key: K,
  known: readonly V[],
): { readonly [key in K]?: V } {
  const value = query.get(key)
  if (value === undefined || value === '') return {}
  const found = known.find((one) => one === value)
  if (found === undefined)
    throw invalid(`${key} has a value nobody knows`, `Give one of ${known.join(', ')}.`)
  return record(key, found)
}

function day<K extends string>(query: QueryValues, key: K): { readonly [key in K]?: string } {
  const given = word(query, key)
  const value = query.get(key)
  if (value === undefined || value === '' || (DAY.test(value) && !Number.isNaN(Date.parse(value))))
    return given
  throw invalid(`${key} is not a day`, 'Write it as yyyy-mm-dd.')
}

function timeZone(query: QueryValues): { readonly timeZone?: string } {
  const given = word(query, 'timeZone')
  if (given.timeZone === undefined) return given
  try {
    Intl.DateTimeFormat('en', { timeZone: given.timeZone })
    return given
  } catch {
    throw invalid('timeZone is not the name of a time zone', 'Give a name like Europe/Berlin, or UTC.')
  }
}

function record<K extends string, V>(key: K, value: V): { readonly [key in K]?: V } {
  // The compiler takes a computed key for any string; an entry of the right key and value is what it asks for.
  const made: { [key in K]?: V } = {}
  made[key] = value
  return made
}

function invalid(message: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', message, { hint })
}
