import { ThroughlineError } from '#base'
import { readDocument, toDefaultCategory, toDocumentJson, toPromotedId } from '#model'
import type { DocumentDraft, DocumentFold, DocumentPatch, MemoryDocument, Provenance } from '#model'

/** The document that a draft makes at a time. */
export function toDocument(draft: DocumentDraft, at: string, mintId: () => string): MemoryDocument {
  const { provenance, type } = draft
  const promoted = provenance ? toPromotedId(type, provenance) : undefined
  const id = draft.id ?? promoted ?? `${type}:${mintId()}`
  const usual = {
    id,
    category: toDefaultCategory(type),
    sessionId: null,
    tags: [],
    createdAt: at,
    updatedAt: draft.createdAt ?? at,
    pinned: false,
    contradicts: [],
    confirmations: [],
    extra: {},
  }
  // Read as it will be read from disk, so that it is the same thing before and after.
  const document = readDocument(toDocumentJson({ ...usual, ...draft, id }))
  if (document) return document
  throw new ThroughlineError('request-invalid', 'a document needs an id that is not empty', {
    hint: 'Leave the id out to have one made.',
  })
}

/** A document with some fields changed. Those that are given as `undefined` are taken away. */
export function toPatched(document: MemoryDocument, patch: DocumentPatch): MemoryDocument {
  const patched: { readonly [Key in keyof MemoryDocument]?: MemoryDocument[Key] | undefined } = {
    ...document,
    ...patch,
  }
  return readDocument(toDocumentJson({ ...patched, extra: patched.extra ?? {} })) ?? document
}

/** Whether something was promoted, or said again, at a place: of a copied line, at the place it was copied from. */
export function isFrom({ provenance, confirmations }: MemoryDocument, at: Provenance): boolean {
  return [provenance, ...confirmations].some(
    (one) => one?.entryId === at.entryId && one.block === at.block && one.position === at.position,
  )
}

/** Whether two documents say the same. */
export function isSame(a: MemoryDocument, b: MemoryDocument): boolean {
  return a === b || JSON.stringify(toSorted(a)) === JSON.stringify(toSorted(b))
}

function toSorted(document: MemoryDocument): readonly (readonly [string, unknown])[] {
  return Object.entries(document).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** Where a chain of newer documents ends; `undefined` when it comes by `forbidden`, or back to where it was. */
export function findEnd(
  id: string,
  fold: DocumentFold,
  forbidden: string | undefined,
): MemoryDocument | undefined {
  const passed = new Set<string>()
  let at: string | undefined = id
  let last: MemoryDocument | undefined
  while (at !== undefined) {
    if (at === forbidden || passed.has(at)) return undefined
    passed.add(at)
    const found: MemoryDocument | undefined = fold.find(at)?.document
    if (!found) return last
    last = found
    at = found.supersededBy
  }
  return last
}
