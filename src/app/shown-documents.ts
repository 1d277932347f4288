import type { Documents } from '#memory'
import type { MemoryDocument } from '#model'
import { isWithin } from './config.ts'
import { notFound } from './memory-remember.ts'

/** Whether a document may be shown: what was learned in a folder outside the roots may not. */
export function isShownDocument({ workdir }: MemoryDocument, roots: readonly string[]): boolean {
  return workdir === undefined || isWithin(workdir, roots)
}

/**
 * Documents as they may be shown: what was learned in a folder outside the roots is as if it were not there, and
 * cannot be changed either. What was learned in no folder is shown.
 */
export function toShownDocuments(documents: Documents, roots: readonly string[]): Documents {
  if (roots.length === 0) return documents
  const known = new Map<string, boolean>()

  function isShown(document: MemoryDocument): boolean {
    const { workdir = '' } = document
    const isInside = known.get(workdir) ?? isShownDocument(document, roots)
    known.set(workdir, isInside)
    return isInside
  }

  function find(id: string): MemoryDocument | undefined {
    const found = documents.find(id)
    return found !== undefined && isShown(found) ? found : undefined
  }

  /** Of what is not shown nobody learns that it is there. */
  function shown(id: string): string {
    if (documents.find(id) !== undefined && find(id) === undefined) throw notFound(id)
    return id
  }

  return {
    ...documents,
    patch: async (id, ...rest) => await documents.patch(shown(id), ...rest),
    confirm: async (id, ...rest) => await documents.confirm(shown(id), ...rest),
    retire: async (id, ...rest) => await documents.retire(shown(id), ...rest),
    restore: async (id, ...rest) => await documents.restore(shown(id), ...rest),
    supersede: async (id, newer, author) => await documents.supersede(shown(id), shown(newer), author),
    pin: async (id, ...rest) => await documents.pin(shown(id), ...rest),
    unpin: async (id, ...rest) => await documents.unpin(shown(id), ...rest),
    expire: async (id, ...rest) => await documents.expire(shown(id), ...rest),
    approve: async (id, ...rest) => await documents.approve(shown(id), ...rest),
    decide: async (id, ...rest) => await documents.decide(shown(id), ...rest),
    find,
    findNewest(id) {
      const newest = documents.findNewest(id)
      return newest !== undefined && isShown(newest) ? newest : undefined
    },
    versions: (id) => (find(id) === undefined ? [] : documents.versions(id)),
    query: (query) => documents.query(query).filter(isShown),
    subscribe: (query, listener) =>
      documents.subscribe(query, (delivery) =>
        listener({
          ...delivery,
          documents: delivery.documents.filter(isShown),
          added: delivery.added.filter(isShown),
          changed: delivery.changed.filter(isShown),
        }),
      ),
  }
}
