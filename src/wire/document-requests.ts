import { isObject, ThroughlineError, type JsonObject } from '#base'
import {
  isDocumentCategory,
  isDocumentType,
  readDocument,
  type DocumentDraft,
  type DocumentPatch,
  type DocumentQuery,
  type DocumentState,
  type MemoryDocument,
} from '#model'
import { isDocumentId, LONGEST_DOCUMENT_ID } from './document-id.ts'
import type { QueryValues } from './requests.ts'

type Check = { readonly is: (value: unknown) => boolean; readonly hint: string }

const STATES: Readonly<Record<DocumentState, true>> = {
  active: true,
  quarantined: true,
  expired: true,
  superseded: true,
  retired: true,
}
const TEXT: Check = { is: (value) => typeof value === 'string', hint: 'Give a text.' }
const TEXTS: Check = { is: isTexts, hint: 'Give a list of texts.' }
const FLAG: Check = { is: (value) => typeof value === 'boolean', hint: 'Give `true` or `false`.' }
const TIME: Check = {
  is: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  hint: 'Write it as 2026-11-15T09:30:00Z.',
}
const TYPE: Check = {
  is: (value) => typeof value === 'string' && isDocumentType(value),
  hint: 'Give message, artifact, learning, marker or teaching.',
}
const CATEGORY: Check = {
  is: (value) => typeof value === 'string' && isDocumentCategory(value),
  hint: 'Give transcript, identity, knowledge or operational.',
}
const ROLE: Check = {
  is: (value) => value === 'user' || value === 'assistant',
  hint: 'Give user or assistant.',
}
const SPEAKER: Check = { is: (value) => value === 'human' || value === 'agent', hint: 'Give human or agent.' }
const STATE: Check = {
  is: (value) => typeof value === 'string' && Object.hasOwn(STATES, value),
  hint: 'Give active, quarantined, expired, superseded or retired.',
}
const SCOPE: Check = {
  is: (value) => value === 'private' || value === 'workdir' || value === 'team',
  hint: 'Give private, workdir or team.',
}
const AUDIENCE: Check = {
  is: (value) => isObject(value) && isTexts(value['agents'] ?? []) && isTexts(value['workdirs'] ?? []),
  hint: 'Give `{ "agents": […], "workdirs": […] }`.',
}
const OBJECT: Check = { is: isObject, hint: 'Give an object.' }
const OBJECTS: Check = {
  is: (value) => Array.isArray(value) && value.every(isObject),
  hint: 'Give a list of objects.',
}

/** The fields of a document and what they hold; whatever else is given is kept as it is. */
const FIELDS: Readonly<Record<Exclude<keyof MemoryDocument, 'elsewhere' | 'conflict'>, Check>> = {
  id: {
    is: (value) => typeof value === 'string' && isDocumentId(value),
    hint: `Give 1 to ${LONGEST_DOCUMENT_ID} characters, none of them a control character, or leave it out.`,
  },
  type: TYPE,
  category: CATEGORY,
  sessionId: { is: (value) => value === null || typeof value === 'string', hint: 'Give a text, or null.' },
  role: ROLE,
  speakerType: SPEAKER,
  speakerName: TEXT,
  tags: TEXTS,
  content: TEXT,
  provenance: {
    is: (value) => isObject(value) && TEXT.is(value['sessionId']) && TEXT.is(value['entryId']),
    hint: 'Give `{ "sessionId": "…", "entryId": "…", "block": 0, "position": 0 }`.',
  },
  sourceSessionId: TEXT,
  sourceMessageId: TEXT,
  promotedBy: TEXT,
  createdAt: TIME,
  updatedAt: TIME,
  pinned: FLAG,
  expiresAt: TIME,
  retiredAt: TIME,
  supersededBy: TEXT,
  contradicts: TEXTS,
  confirmations: OBJECTS,
  audience: AUDIENCE,
  workdir: TEXT,
  files: {
    is: (value) => OBJECTS.is(value) && Array.isArray(value) && value.every(isBinding),
    hint: 'Give a list of `{ "path": "…", "hash": "…" }`.',
  },
  quarantine: TEXT,
  scope: SCOPE,
  extra: OBJECT,
}

/** Fields that a document need not have, so that they can be taken away again. */
const OPTIONAL: ReadonlySet<string> = new Set<keyof MemoryDocument>([
  'role',
  'speakerType',
  'speakerName',
  'provenance',
  'sourceSessionId',
  'sourceMessageId',
  'promotedBy',
  'expiresAt',
  'retiredAt',
  'supersededBy',
  'audience',
  'workdir',
  'files',
  'quarantine',
  'scope',
])
const UNCHANGING: ReadonlySet<string> = new Set<keyof MemoryDocument>(['id', 'createdAt', 'updatedAt'])
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['_id', 'id'],
  ['serverSessionId', 'sessionId'],
])

/** Facets, and what each of their values must be. */
const FACETS: Readonly<Record<Exclude<keyof DocumentQuery, 'audience' | 'tags'>, Check>> = {
  id: TEXT,
  type: TYPE,
  category: CATEGORY,
  sessionId: FIELDS.sessionId,
  role: ROLE,
  speakerType: SPEAKER,
  speakerName: TEXT,
  sourceSessionId: TEXT,
  sourceMessageId: TEXT,
  promotedBy: TEXT,
  workdir: TEXT,
  pinned: FLAG,
  scope: SCOPE,
  state: STATE,
  text: TEXT,
}
/** Those of which one value is meant. */
const SINGLE: ReadonlySet<string> = new Set(['pinned', 'text'])
/** Those whose values have no commas, so that a query string can have several. */
const LISTED: ReadonlySet<string> = new Set(['type', 'category', 'role', 'speakerType', 'scope', 'state'])

/** The facets that are asked for. Throws `request-invalid` for one that cannot be meant, and names it. */
export function readDocumentQuery(value: unknown): DocumentQuery {
  if (!isObject(value)) throw invalid('the query is no object', 'Give facets: `{ "type": "learning" }`.')
  const facets = new Map<string, unknown>()
  for (const [name, given] of Object.entries(value)) {
    const facet = ALIASES.get(name) ?? name
    if (given === undefined) continue
    if (facets.has(facet)) throw invalid(`${name} says ${facet} twice`, 'Give only one of them.')
    checkFacet(facet, given)
    facets.set(facet, given)
  }
  const query: unknown = Object.fromEntries(facets)
  if (isQuery(query)) return query
  throw invalid('the query is none', 'Give facets: `{ "type": "learning" }`.')
}

/** Every facet was looked at. */
function isQuery(value: unknown): value is DocumentQuery {
  return isObject(value)
}

function checkFacet(facet: string, given: unknown): void {
  if (facet === 'tags') return check(facet, given, TEXTS)
  if (facet === 'audience') {
    const isOne = isObject(given) && TEXT.is(given['agent'] ?? '') && TEXT.is(given['workdir'] ?? '')
    if (isOne) return
    throw invalid('audience is none', 'Give `{ "agent": "…", "workdir": "…" }`.')
  }
  if (!isFacet(facet)) {
    throw invalid(`${facet} is no facet`, `Give one of ${Object.keys(FACETS).join(', ')}, tags, audience.`)
  }
  if (Array.isArray(given) && !SINGLE.has(facet)) {
    for (const one of given) check(facet, one, FACETS[facet])
    return
  }
  check(facet, given, FACETS[facet])
}

/** Facets as a query string has them: several values with commas where none can stand in a value, tags with commas. */
export function readFacetValues(values: QueryValues): DocumentQuery {
  const facets: Record<string, unknown> = {}
  for (const [name, value] of values) {
    if (name === 'limit' || value === '') continue
    const facet = ALIASES.get(name) ?? name
    if (facet === 'agent') facets['audience'] = { agent: value }
    else if (facet === 'tags' || LISTED.has(facet)) facets[name] = value.split(',').map((one) => one.trim())
    else if (facet === 'sessionId') facets[name] = value === 'none' ? null : value
    else if (facet === 'pinned') facets[name] = value === '1' ? true : value === '0' ? false : value
    else facets[name] = value
  }
  return readDocumentQuery(facets)
}

/** A document to be. Fields that nobody knows are kept. Throws `request-invalid`, and names the field. */
export function readDocumentDraft(body: unknown): DocumentDraft {
  const given = toNamed(body)
  for (const key of ['type', 'content']) {
    if (given[key] === undefined)
      throw invalid(`${key} is missing`, FIELDS[key === 'type' ? key : 'content'].hint)
  }
  checkFields(given)
  const document = readDocument({ ...given, id: given['id'] ?? 'draft' })
  if (document === undefined) throw invalid('this is no document', 'Give `type` and `content`.')
  const { id, createdAt, updatedAt, ...rest } = document
  return {
    ...rest,
    ...(given['id'] === undefined ? {} : { id }),
    ...(given['createdAt'] === undefined ? {} : { createdAt }),
    ...(given['updatedAt'] === undefined ? {} : { updatedAt }),
  }
}

/** What is to be another. `null` takes a field away. Throws `request-invalid`, and names the field. */
export function readDocumentPatch(body: unknown): DocumentPatch {
  const given = toNamed(body)
  const taken = Object.keys(given).filter((key) => (given[key] ?? null) === null && OPTIONAL.has(key))
  const kept = Object.fromEntries(Object.entries(given).filter(([key]) => !taken.includes(key)))
  for (const key of Object.keys(given)) {
    if (UNCHANGING.has(key)) throw invalid(`${key} cannot be changed`, 'Leave it out.')
    if (!isField(key)) throw invalid(`${key} is no field of a document`, 'Put what is your own into `extra`.')
  }
  checkFields(kept)
  const read = readDocument({ type: 'learning', ...kept, id: 'patch' })
  const patch: unknown = Object.fromEntries(
    Object.keys(given).map((key) => [key, taken.includes(key) || !isField(key) ? undefined : read?.[key]]),
  )
  if (isPatch(patch)) return patch
  throw invalid('there is nothing to change', 'Give fields of a document.')
}

/** Every field was looked at. */
function isPatch(value: unknown): value is DocumentPatch {
  return isObject(value) && Object.keys(value).length > 0
}

function toNamed(body: unknown): JsonObject {
  if (!isObject(body)) throw invalid('this is no document', 'Give an object: `{ "type": …, "content": … }`.')
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [ALIASES.get(key) ?? key, value]))
}

function checkFields(given: JsonObject): void {
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined && isField(key)) check(key, value, FIELDS[key])
  }
}

function check(name: string, value: unknown, { is, hint }: Check): void {
  if (!is(value)) throw invalid(`${name} has a value that cannot be meant`, hint)
}

function isField(key: string): key is keyof typeof FIELDS {
  return Object.hasOwn(FIELDS, key)
}

function isFacet(key: string): key is keyof typeof FACETS {
  return Object.hasOwn(FACETS, key)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isBinding(value: unknown): boolean {
  return isObject(value) && TEXT.is(value['path']) && TEXT.is(value['hash'])
}

function invalid(message: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', message, { hint })
}
