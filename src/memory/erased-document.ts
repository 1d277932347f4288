import { ThroughlineError } from '#base'
import type { DocumentFold, DocumentVersion, MemoryDocument } from '#model'

/**
 * What is left of a document that was deleted: its id, its kind, and the places it was promoted from, so that reading
 * those places again does not bring it back. Throws `request-invalid` when copies of it would stay elsewhere.
 */
export function toErased(
  document: MemoryDocument,
  fold: DocumentFold,
  { by, at, key }: { readonly by: string; readonly at: string; readonly key: string },
): DocumentVersion {
  const { id, type, category, provenance, confirmations, createdAt } = document
  const versions = fold.versions(id)
  if (versions.some((one) => one.elsewhere !== undefined || one.document.scope !== undefined))
    throw isElsewhere(id)
  return {
    version: (versions.at(-1)?.version ?? 0) + 1,
    change: 'deleted',
    by,
    at,
    key,
    after: [],
    document: {
      id,
      type,
      category,
      sessionId: null,
      tags: [],
      content: '',
      createdAt,
      updatedAt: at,
      retiredAt: at,
      pinned: false,
      contradicts: [],
      confirmations,
      ...(provenance === undefined ? {} : { provenance }),
      extra: {},
    },
  }
}

function isElsewhere(id: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `${id} was shared, or changed on another machine`, {
    hint: 'Copies of it would stay there, so nothing was deleted. Retire it: `throughline documents retire`.',
  })
}
