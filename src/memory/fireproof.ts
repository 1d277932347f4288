import { createHash } from 'node:crypto'
import { boolean, field, isObject, list, parseJson, string } from '#base'
import type { JsonObject } from '#base'
import { isDocumentCategory, isDocumentType, readSpeaker, toDefaultCategory } from '#model'
import type { DocumentType, MemoryDocument } from '#model'

/** Something of an export that did not come along as it was, and why. */
export interface ImportLoss {
  /** Which line or item, counted from 1. */
  readonly item: number
  readonly reason:
    | 'not-json'
    | 'not-an-object'
    /** It has neither an id nor anything that a document of such a database has. */
    | 'not-a-document'
    /** It was deleted in the old database; it stays so. */
    | 'deleted'
    /** A later item has the same id and says something else; that one was taken. */
    | 'replaced'
    /** Taken, with an id made of what it says. */
    | 'no-id'
    /** Taken as an artifact; the type it had is kept. */
    | 'unknown-type'
  readonly id?: string
}

/** What an export holds. */
export interface FireproofExport {
  readonly documents: readonly MemoryDocument[]
  readonly losses: readonly ImportLoss[]
}

type Item = { readonly number: number; readonly value: unknown }

/**
 * Reads an export of a Fireproof database: a JSON array of documents, or one document per line. Ids, facets and every
 * field that nobody here knows are kept. Documents of before `serverSessionId` and the speaker's fields were there
 * are read too. The same text gives the same documents, so that reading it again adds nothing. Never throws.
 */
export function readFireproof(text: string): FireproofExport {
  const losses: ImportLoss[] = []
  const taken = new Map<string, { readonly item: number; readonly document: MemoryDocument }>()
  for (const { number, value } of toItems(text.replace(/^\uFEFF/, ''))) {
    const raw = unwrap(value)
    const reason = raw === undefined ? (value === undefined ? 'not-json' : 'not-an-object') : undefined
    if (raw === undefined || reason !== undefined) {
      losses.push({ item: number, reason: reason ?? 'not-an-object' })
      continue
    }
    if (!isDocument(raw)) {
      losses.push({ item: number, reason: 'not-a-document' })
      continue
    }
    const own = string(raw, '_id')
    const id = own === undefined || own === '' ? toId(raw) : own
    if (boolean(raw, '_deleted') === true) {
      losses.push({ item: number, reason: 'deleted', id })
      continue
    }
    if (id !== own) losses.push({ item: number, reason: 'no-id', id })
    const document = toDocument(raw, id)
    if (Object.hasOwn(document.extra, 'type')) losses.push({ item: number, reason: 'unknown-type', id })
    const earlier = taken.get(id)
    if (earlier && toCanonical(earlier.document) !== toCanonical(document))
      losses.push({ item: earlier.item, reason: 'replaced', id })
    taken.set(id, { item: number, document })
  }
  return {
    documents: [...taken.values()].map(({ document }) => document),
    losses: losses.toSorted((a, b) => a.item - b.item),
  }
}

/** The items of an array, or the lines. A file that begins like an array and is none is read line by line. */
function toItems(text: string): readonly Item[] {
  const whole = parseJson(text)
  if (Array.isArray(whole)) return whole.map((value: unknown, n) => ({ number: n + 1, value }))
  const rows = list(whole, 'rows')
  if (rows.length > 0) return rows.map((value, n) => ({ number: n + 1, value }))
  return text
    .split('\n')
    .map((line, n) => ({ number: n + 1, line: line.trim() }))
    .filter(({ line }) => line !== '')
    .map(({ number, line }) => ({ number, value: parseJson(line) }))
}

/** What `allDocs()` gives has the document beside its key. */
function unwrap(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined
  const inner = field(value, 'value')
  const isRow = string(value, '_id') === undefined && string(value, 'key') !== undefined && isObject(inner)
  if (!isRow) return value
  return string(inner, '_id') === undefined ? { ...inner, _id: string(value, 'key') } : inner
}

/** Anything else that is JSON, such as a transcript or an export of our own, is no document of such a database. */
function isDocument(raw: JsonObject): boolean {
  if (string(raw, '_id') !== undefined) return true
  const role = string(raw, 'role')
  const isSaid = string(raw, 'text') !== undefined || list(raw, 'blocks').length > 0
  return isDocumentType(string(raw, 'type')) || ((role === 'user' || role === 'assistant') && isSaid)
}

function toDocument(raw: JsonObject, id: string): MemoryDocument {
  const used = new Set(['_id'])
  /** A known field, unless it is not what it should be: then it is kept with the unknown ones. */
  const text = <Key extends string>(key: Key): { readonly [K in Key]?: string } => {
    const found = string(raw, key)
    if (found === undefined && raw[key] !== null) return {}
    used.add(key)
    const fields: { [K in Key]?: string } = {}
    if (found !== undefined) fields[key] = found
    return fields
  }
  const type = toType(raw)
  if (type === raw['type']) used.add('type')
  const category = text('category').category
  if (category !== undefined && !isDocumentCategory(category)) used.delete('category')
  const speaker = readSpeaker(raw)
  for (const key of Object.keys(speaker)) used.add(key)
  const alias = text('serverSessionId').serverSessionId
  const sessionId = text('sessionId').sessionId ?? alias
  if (alias !== sessionId) used.delete('serverSessionId')
  const source = text('sourceSessionId')
  // Learnings of the first days named the session they came from as the one they belonged to.
  const isLearning = type === 'learning'
  if (isLearning && source.sourceSessionId !== undefined && sessionId !== source.sourceSessionId) {
    used.delete('sessionId')
    used.delete('serverSessionId')
  }
  const tags = list(raw, 'tags').filter((tag) => typeof tag === 'string')
  if (Array.isArray(raw['tags']) && tags.length === raw['tags'].length) used.add('tags')
  const pinned = boolean(raw, 'pinned')
  if (pinned !== undefined) used.add('pinned')
  const createdAt = text('createdAt').createdAt ?? toTime(raw['createdAt'])
  const own = text('content').content
  const rest = {
    ...(isLearning && sessionId !== undefined ? { sourceSessionId: sessionId } : {}),
    ...source,
    ...text('sourceMessageId'),
    ...text('promotedBy'),
    ...text('expiresAt'),
    ...text('retiredAt'),
    ...text('supersededBy'),
  }
  const updatedAt = text('updatedAt').updatedAt ?? createdAt
  return {
    id,
    type,
    category: isDocumentCategory(category) ? category : toDefaultCategory(type),
    sessionId: isLearning ? null : (sessionId ?? null),
    ...(type === 'message' ? toSpeakerType(speaker.role) : {}),
    ...speaker,
    tags,
    content: own ?? toContent(raw),
    ...rest,
    createdAt,
    updatedAt,
    pinned: pinned ?? false,
    contradicts: [],
    confirmations: [],
    extra: Object.fromEntries(Object.entries(raw).filter(([key]) => !used.has(key))),
  }
}

function toType(raw: JsonObject): DocumentType {
  const type = string(raw, 'type')
  if (isDocumentType(type)) return type
  const role = string(raw, 'role')
  return type === undefined && (role === 'user' || role === 'assistant') ? 'message' : 'artifact'
}

function toSpeakerType(role: MemoryDocument['role']): Pick<MemoryDocument, 'speakerType'> {
  if (role === undefined) return {}
  return { speakerType: role === 'user' ? 'human' : 'agent' }
}

/** What a message says, calls of tools left out; what a moment was. The fields themselves are kept too. */
function toContent(raw: JsonObject): string {
  const blocks = list(raw, 'blocks').filter((block) => string(block, 'type') === 'text')
  const said = [string(raw, 'text') ?? '', ...blocks.map((block) => string(block, 'text') ?? '')]
  const text = [...new Set(said)].filter((piece) => piece.trim() !== '').join('\n')
  return text === '' ? (string(raw, 'description') ?? string(raw, 'event') ?? '') : text
}

/** Milliseconds since 1970 as a time; anything else is none. */
function toTime(value: unknown): string {
  if (typeof value !== 'number') return ''
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? '' : time.toISOString()
}

function toId(raw: JsonObject): string {
  return `fireproof:${createHash('sha256').update(toCanonical(raw)).digest('hex').slice(0, 32)}`
}

/** The same text for the same fields, in whatever order they stand. */
function toCanonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
