import { boolean, isObject, list, number, object, string } from '#base'
import type { JsonObject } from '#base'
import type { DocumentScope, DocumentSide } from './document-sharing.ts'
import type { SessionOrigin } from './team.ts'

/** What a document is. */
export type DocumentType = 'message' | 'artifact' | 'learning' | 'marker' | 'teaching'

/** What a document is about. */
export type DocumentCategory = 'transcript' | 'identity' | 'knowledge' | 'operational'

/** Who a teaching is for. An empty list means everybody. */
export interface DocumentAudience {
  readonly agents: readonly string[]
  readonly workdirs: readonly string[]
}

/** Where in a session something was said. */
export interface Provenance {
  readonly sessionId: string
  /** The entry that said it first: of a copied line, the id that it was copied from. */
  readonly entryId: string
  /** Which block of the entry, counted from 0. */
  readonly block: number
  /** Where in the block's text, counted in UTF-16 units from 0. */
  readonly position: number
}

/** A file as it was when something was learned from it. */
export interface FileBinding {
  /** Absolute. */
  readonly path: string
  /** SHA-256 of its bytes, in hex. */
  readonly hash: string
}

/** One remembered thing, as it is or was. Facets are flat; what nobody here knows is kept in `extra`. */
export interface MemoryDocument {
  readonly id: string
  readonly type: DocumentType
  readonly category: DocumentCategory
  /** The session it belongs to; `null` when it belongs to none. */
  readonly sessionId: string | null
  readonly role?: 'user' | 'assistant'
  readonly speakerType?: 'human' | 'agent'
  readonly speakerName?: string
  readonly tags: readonly string[]
  readonly content: string
  readonly provenance?: Provenance
  readonly sourceSessionId?: string
  readonly sourceMessageId?: string
  readonly promotedBy?: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly pinned: boolean
  readonly expiresAt?: string
  readonly retiredAt?: string
  readonly supersededBy?: string
  /** Documents that say otherwise, and nobody has decided between. */
  readonly contradicts: readonly string[]
  /** Where the same was said again. */
  readonly confirmations: readonly Provenance[]
  readonly audience?: DocumentAudience
  /** The folder it was learned in. Not there: it holds everywhere. */
  readonly workdir?: string
  /** Files it was learned from, as they were then. */
  readonly files?: readonly FileBinding[]
  /** Why it is held back until a person decides. */
  readonly quarantine?: string
  /** Not there: private. */
  readonly scope?: Exclude<DocumentScope, 'private'>
  /** Whose it is and where it was written, when that was not here. Told, never written down. */
  readonly elsewhere?: SessionOrigin
  /** Its last versions, when several were written without knowing of each other. Told, never written down. */
  readonly conflict?: readonly DocumentSide[]
  /** Fields that nobody here knows, as they came. */
  readonly extra: JsonObject
}

/** What can be done with a document. Of all but `active` nothing enters a wake-up. */
export type DocumentState = 'active' | 'quarantined' | 'expired' | 'superseded' | 'retired'

const TYPES: ReadonlySet<string> = new Set<DocumentType>([
  'message',
  'artifact',
  'learning',
  'marker',
  'teaching',
])
const CATEGORIES: ReadonlySet<string> = new Set<DocumentCategory>([
  'transcript',
  'identity',
  'knowledge',
  'operational',
])
const KEYS: ReadonlySet<string> = new Set<keyof MemoryDocument>([
  'id',
  'type',
  'category',
  'sessionId',
  'role',
  'speakerType',
  'speakerName',
  'tags',
  'content',
  'provenance',
  'sourceSessionId',
  'sourceMessageId',
  'promotedBy',
  'createdAt',
  'updatedAt',
  'pinned',
  'expiresAt',
  'retiredAt',
  'supersededBy',
  'contradicts',
  'confirmations',
  'audience',
  'workdir',
  'files',
  'quarantine',
  'scope',
  'extra',
])
/** What is told of a document and is no part of it: in a line, such a name is one that nobody knows. */
const TOLD: ReadonlySet<string> = new Set<keyof MemoryDocument>(['elsewhere', 'conflict'])
const ALIAS = 'serverSessionId'

/** Whether a text names a type of document. */
export function isDocumentType(text: string | undefined): text is DocumentType {
  return text !== undefined && TYPES.has(text)
}

/** Whether a text names a category of documents. */
export function isDocumentCategory(text: string | undefined): text is DocumentCategory {
  return text !== undefined && CATEGORIES.has(text)
}

/** The id of what was promoted at a place: the same for every copy of the line, however often it is read. */
export function toPromotedId(type: DocumentType, at: Omit<Provenance, 'sessionId'>): string {
  return `${type}:${at.entryId}:${at.block}:${at.position}`
}

/**
 * The state of a document at a time. What a person ended counts before what ended by itself, and a document that is
 * held back stays held back until somebody decides.
 */
export function toDocumentState(document: MemoryDocument, now: number): DocumentState {
  if (document.retiredAt !== undefined) return 'retired'
  if (document.supersededBy !== undefined) return 'superseded'
  if (document.quarantine !== undefined) return 'quarantined'
  return isExpired(document, now) ? 'expired' : 'active'
}

function isExpired({ expiresAt }: MemoryDocument, now: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= now
}

/** A document, some of whose fields may be given as `undefined`: they are not there. */
type Loose = {
  readonly [Key in keyof MemoryDocument]?: MemoryDocument[Key] | undefined
} & Pick<MemoryDocument, 'extra'>

/**
 * A document as JSON. Fields that nobody here knows stand beside the others, as they came; only those that bear the
 * name of a known one are kept apart, under `extra`.
 */
export function toDocumentJson({
  extra,
  elsewhere: _elsewhere,
  conflict: _conflict,
  ...known
}: Loose): JsonObject {
  const fields = Object.entries(extra)
  const apart = fields.filter(([key]) => isApart(key))
  return Object.fromEntries([
    ...Object.entries(known).filter(([, value]) => value !== undefined),
    ...fields.filter(([key]) => !isApart(key)),
    ...(apart.length > 0 ? [['extra', Object.fromEntries(apart)] as const] : []),
  ])
}

/** What `toDocumentJson` wrote, here or in another version. `undefined` when it is no document. Never throws. */
export function readDocument(value: unknown): MemoryDocument | undefined {
  const id = string(value, 'id')
  const type = string(value, 'type')
  if (!isObject(value) || id === undefined || id === '' || !isDocumentType(type)) return undefined
  const category = string(value, 'category')
  const createdAt = string(value, 'createdAt') ?? ''
  const scope = readScope(value)
  const unknown = Object.entries(value).filter(
    ([key, one]) => !isKnown(key) || (key === 'scope' && scope === undefined && one !== 'private'),
  )
  return {
    id,
    type,
    category: isDocumentCategory(category) ? category : toDefaultCategory(type),
    sessionId: string(value, 'sessionId') ?? string(value, ALIAS) ?? null,
    ...readSpeaker(value),
    tags: texts(value, 'tags'),
    content: string(value, 'content') ?? '',
    ...readOrigin(value),
    createdAt,
    updatedAt: string(value, 'updatedAt') ?? createdAt,
    pinned: boolean(value, 'pinned') ?? false,
    ...optional(value, 'expiresAt'),
    ...optional(value, 'retiredAt'),
    ...optional(value, 'supersededBy'),
    contradicts: texts(value, 'contradicts'),
    confirmations: list(value, 'confirmations').flatMap((one) => readProvenance(one) ?? []),
    ...readAudience(value),
    ...optional(value, 'workdir'),
    ...readFiles(value),
    ...optional(value, 'quarantine'),
    ...(scope === undefined ? {} : { scope }),
    extra: Object.fromEntries([...unknown, ...Object.entries(object(value, 'extra') ?? {})]),
  }
}

/** The category of a document that names none. */
export function toDefaultCategory(type: DocumentType): DocumentCategory {
  return type === 'message' ? 'transcript' : 'knowledge'
}

/** Role, kind and name of who spoke, as far as a foreign value tells. */
export function readSpeaker(value: unknown): Pick<MemoryDocument, 'role' | 'speakerType' | 'speakerName'> {
  const role = string(value, 'role')
  const speaker = string(value, 'speakerType')
  return {
    ...(role === 'user' || role === 'assistant' ? { role } : {}),
    ...(speaker === 'human' || speaker === 'agent' ? { speakerType: speaker } : {}),
    ...optional(value, 'speakerName'),
  }
}

function readOrigin(
  value: unknown,
): Pick<MemoryDocument, 'provenance' | 'sourceSessionId' | 'sourceMessageId' | 'promotedBy'> {
  const provenance = readProvenance(object(value, 'provenance'))
  return {
    ...(provenance ? { provenance } : {}),
    ...optional(value, 'sourceSessionId'),
    ...optional(value, 'sourceMessageId'),
    ...optional(value, 'promotedBy'),
  }
}

function readProvenance(value: unknown): Provenance | undefined {
  const sessionId = string(value, 'sessionId')
  const entryId = string(value, 'entryId')
  if (sessionId === undefined || entryId === undefined) return undefined
  return { sessionId, entryId, block: number(value, 'block') ?? 0, position: number(value, 'position') ?? 0 }
}

function readScope(value: unknown): MemoryDocument['scope'] {
  const scope = string(value, 'scope')
  return scope === 'team' || scope === 'workdir' ? scope : undefined
}

function readAudience(value: unknown): Pick<MemoryDocument, 'audience'> {
  const audience = object(value, 'audience')
  if (!audience) return {}
  return { audience: { agents: texts(audience, 'agents'), workdirs: texts(audience, 'workdirs') } }
}

function readFiles(value: unknown): Pick<MemoryDocument, 'files'> {
  const files = list(value, 'files').flatMap((one) => {
    const path = string(one, 'path')
    const hash = string(one, 'hash')
    return path === undefined || hash === undefined ? [] : [{ path, hash }]
  })
  return files.length === 0 ? {} : { files }
}

function optional<Key extends string>(value: unknown, key: Key): { readonly [K in Key]?: string } {
  const found = string(value, key)
  const fields: { [K in Key]?: string } = {}
  if (found !== undefined) fields[key] = found
  return fields
}

function texts(value: unknown, key: string): readonly string[] {
  return list(value, key).filter((item) => typeof item === 'string')
}

/** Whether it would be taken for something else beside the fields. */
function isApart(key: string): boolean {
  return isKnown(key) || TOLD.has(key)
}

function isKnown(key: string): boolean {
  return KEYS.has(key) || key === ALIAS
}
