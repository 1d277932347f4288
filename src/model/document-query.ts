import type { DocumentCategory, DocumentState, DocumentType, MemoryDocument } from './document.ts'
import type { DocumentScope } from './document-sharing.ts'
import { toDocumentJson, toDocumentState } from './document.ts'

/** One value, or several of which any will do. */
export type AnyOf<T> = T | readonly T[]

/** What documents are asked for: every facet that is given must fit. */
export interface DocumentQuery {
  readonly id?: AnyOf<string>
  readonly type?: AnyOf<DocumentType>
  readonly category?: AnyOf<DocumentCategory>
  /** `null` asks for those that belong to no session. */
  readonly sessionId?: AnyOf<string | null>
  readonly role?: AnyOf<'user' | 'assistant'>
  readonly speakerType?: AnyOf<'human' | 'agent'>
  readonly speakerName?: AnyOf<string>
  /** All of them. */
  readonly tags?: readonly string[]
  readonly sourceSessionId?: AnyOf<string>
  readonly sourceMessageId?: AnyOf<string>
  readonly promotedBy?: AnyOf<string>
  /** The folder it was learned in, exactly. */
  readonly workdir?: AnyOf<string>
  readonly pinned?: boolean
  /** Who may read it. */
  readonly scope?: AnyOf<DocumentScope>
  /** For whom: teachings for somebody else are left out. */
  readonly audience?: { readonly agent?: string; readonly workdir?: string }
  /** `active` unless said otherwise. */
  readonly state?: AnyOf<DocumentState>
  /** Every word of it stands in the content, the tags or the speaker's name, as the beginning of a word. */
  readonly text?: string
}

/** What a live query tells: all that matches now, and what is different since the last time. */
export interface DocumentDelivery {
  readonly documents: readonly MemoryDocument[]
  readonly added: readonly MemoryDocument[]
  readonly changed: readonly MemoryDocument[]
  /** Ids of those that match no longer. */
  readonly removed: readonly string[]
}

/** Whether a document is one that is asked for. */
export function matchesQuery(document: MemoryDocument, query: DocumentQuery, now: number): boolean {
  return (
    fits(document.id, query.id) &&
    fits(document.type, query.type) &&
    fits(document.category, query.category) &&
    fits(document.sessionId, query.sessionId) &&
    fits(document.role, query.role) &&
    fits(document.speakerType, query.speakerType) &&
    fits(document.speakerName, query.speakerName) &&
    fits(document.sourceSessionId, query.sourceSessionId) &&
    fits(document.sourceMessageId, query.sourceMessageId) &&
    fits(document.promotedBy, query.promotedBy) &&
    fits(document.workdir, query.workdir) &&
    fits(document.pinned, query.pinned) &&
    fits(document.scope ?? 'private', query.scope) &&
    fits(toDocumentState(document, now), query.state ?? 'active') &&
    (query.tags ?? []).every((tag) => document.tags.includes(tag)) &&
    isFor(document, query.audience) &&
    hasWords(document, query.text)
  )
}

/** Those that are asked for, oldest first; of the same age by id, so that the order is always the same. */
export function toMatching(
  documents: Iterable<MemoryDocument>,
  query: DocumentQuery,
  now: number,
): readonly MemoryDocument[] {
  return [...documents].filter((document) => matchesQuery(document, query, now)).toSorted(byAge)
}

/** What changed between two answers to one query. */
export function toDelivery(
  before: readonly MemoryDocument[],
  after: readonly MemoryDocument[],
): DocumentDelivery {
  const known = new Map(before.map((document) => [document.id, document]))
  const kept = new Set(after.map(({ id }) => id))
  return {
    documents: after,
    added: after.filter(({ id }) => !known.has(id)),
    changed: after.filter((document) => {
      const old = known.get(document.id)
      return old !== undefined && !isSame(old, document)
    }),
    removed: before.filter(({ id }) => !kept.has(id)).map(({ id }) => id),
  }
}

/** Whether a delivery tells anything that was not told before. */
export function tellsSomething({ added, changed, removed }: DocumentDelivery): boolean {
  return added.length + changed.length + removed.length > 0
}

/** Words without case and accents. */
export function toFoldedWords(text: string): readonly string[] {
  const folded = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
  return folded.match(/[\p{L}\p{N}_]+/gu) ?? []
}

/** After a look at the file, the same document is another object. */
function isSame(a: MemoryDocument, b: MemoryDocument): boolean {
  return a === b || toCompared(a) === toCompared(b)
}

function toCompared(document: MemoryDocument): string {
  return JSON.stringify([toDocumentJson(document), document.elsewhere, document.conflict])
}

function fits<T>(value: T | undefined, asked: AnyOf<T> | undefined): boolean {
  if (asked === undefined) return true
  if (Array.isArray(asked)) return asked.includes(value)
  return value === asked
}

function isFor({ audience }: MemoryDocument, asked: DocumentQuery['audience']): boolean {
  if (!audience || !asked) return true
  const { agent, workdir } = asked
  return (
    (agent === undefined || audience.agents.length === 0 || audience.agents.includes(agent)) &&
    (workdir === undefined || audience.workdirs.length === 0 || audience.workdirs.some(holds(workdir)))
  )
}

/** Whether a folder is another one, or inside it. */
function holds(workdir: string): (folder: string) => boolean {
  return (folder) => workdir === folder || workdir.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

function hasWords({ content, tags, speakerName }: MemoryDocument, text: string | undefined): boolean {
  if (text === undefined) return true
  const words = toFoldedWords([content, ...tags, speakerName ?? ''].join(' '))
  return toFoldedWords(text).every((asked) => words.some((word) => word.startsWith(asked)))
}

function byAge(a: MemoryDocument, b: MemoryDocument): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
