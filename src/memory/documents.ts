import { join } from 'node:path'
import { tellsSomething, toDelivery, toMatching, versionKeyOf } from '#model'
import type {
  DocumentChange,
  DocumentDelivery,
  DocumentDraft,
  DocumentFold,
  DocumentQuery,
  DocumentVersion,
  MemoryDocument,
} from '#model'
import type { Author, Documents, PutOutcome, TakeInOutcome } from './document-calls.ts'
import { hasChanged, isCircle, isClosed, notFound } from './document-errors.ts'
import { findEnd, isFrom, isSame, toDocument, toPatched } from './document-draft.ts'
import { toCurrent, toShown } from './document-ends.ts'
import { isUndecided, toOutsideVersions } from './outside-documents.ts'
import { toErased } from './erased-document.ts'
import { createDocumentLog, toUnknown, type VersionsElsewhere } from './document-log.ts'

type Waiting = {
  readonly query: DocumentQuery
  readonly listener: (delivery: DocumentDelivery) => void
  told: readonly MemoryDocument[]
}

/** The documents in `<home>/documents.jsonl`, which is made with the first of them. */
export async function openDocuments({
  home,
  now,
  mintId,
  elsewhere,
}: {
  readonly home: string
  readonly now: () => number
  readonly mintId: () => string
  /** What one's other machines wrote. */
  readonly elsewhere?: VersionsElsewhere | undefined
}): Promise<Documents> {
  const log = createDocumentLog(join(home, 'documents.jsonl'), elsewhere)
  const waiting = new Set<Waiting>()
  let writing: Promise<unknown> = Promise.resolve()
  let closed = false
  await log.refresh()

  function tell(): void {
    for (const one of waiting) {
      const delivery = toDelivery(one.told, query(one.query))
      if (!tellsSomething(delivery)) continue
      one.told = delivery.documents
      one.listener(delivery)
    }
  }

  function query(asked: DocumentQuery): readonly MemoryDocument[] {
    return toMatching(toCurrent(log.fold()), asked, now()).filter(({ id }) => !isDeleted(id))
  }

  /** Only its places are known, so that they are not read anew. */
  function isDeleted(id: string): boolean {
    return log.fold().find(id)?.change === 'deleted'
  }

  async function write(decide: (fold: DocumentFold) => readonly DocumentVersion[]): Promise<void> {
    if (closed) throw isClosed()
    const work = log.write(decide)
    writing = Promise.allSettled([writing, work])
    await work
    tell()
  }

  async function change(
    id: string,
    how: { readonly change: DocumentChange; readonly author: Author; readonly decides?: boolean },
    toNext: (document: MemoryDocument, fold: DocumentFold) => MemoryDocument,
  ): Promise<MemoryDocument> {
    await write((fold) => {
      const last = fold.find(id)
      if (!last || last.change === 'deleted') throw notFound(id)
      if (how.author.version !== undefined && how.author.version !== last.version) throw hasChanged(id)
      const next = toNext(last.document, fold)
      const at = new Date(now()).toISOString()
      const ends = fold.ends(id)
      // What was written elsewhere meanwhile stays open until a person has decided: saying it again decides nothing.
      const before = how.decides === true ? ends : [last]
      if (isSame(last.document, next) && before.length <= 1) return []
      // In the order in which it will be read, so that nobody takes it for another one then.
      const document = toPatched({ ...next, updatedAt: at }, {})
      const version = last.version + 1
      const after = before.map(versionKeyOf)
      return [{ version, change: how.change, by: how.author.by, at, document, key: mintId(), after }]
    })
    return getDocument(id)
  }

  function getDocument(id: string): MemoryDocument {
    const found = toShown(log.fold(), id)
    if (!found) throw notFound(id)
    return found
  }

  async function putAll(
    drafts: readonly DocumentDraft[],
    author: Author & { readonly change?: 'put' | 'imported' },
  ): Promise<readonly PutOutcome[]> {
    let outcomes: readonly PutOutcome[] = []
    await write((fold) => {
      const at = new Date(now()).toISOString()
      const fresh = new Map<string, DocumentVersion>()
      outcomes = drafts.map((draft) => {
        const document = toDocument(draft, at, mintId)
        const known = fold.find(document.id) ?? fresh.get(document.id)
        if (known) return { outcome: 'known', document: known.document }
        const { by, change: how = 'put' } = author
        const made = { version: 1, change: how, by, at, document, key: mintId(), after: [] }
        fresh.set(document.id, made)
        return { outcome: 'written', document }
      })
      return [...fresh.values()]
    })
    return outcomes
  }

  const approve: Documents['approve'] = async (id, author) =>
    await change(id, { change: 'approved', author }, (document) =>
      toPatched(document, { quarantine: undefined }),
    )

  return {
    async put(draft, author) {
      const [outcome] = await putAll([draft], author)
      if (!outcome) throw notFound(draft.id ?? '')
      return outcome
    },
    putAll,
    async takeIn(versions, { from, by }) {
      let outcome: TakeInOutcome = { changed: new Set(), refused: [] }
      const known = new Set<string>()
      await write((fold) => {
        const ids = new Set(versions.map(({ document }) => document.id))
        if (from === undefined) {
          for (const id of ids) if (fold.find(id) !== undefined && isUndecided(id, fold)) known.add(id)
        }
        const taken =
          from === undefined
            ? { versions: versions.filter(({ document }) => !known.has(document.id)), refused: [] }
            : toOutsideVersions(versions, from, fold)
        const news = toUnknown(taken.versions, fold)
        const changed = new Set([...news.map(({ document }) => document.id), ...known])
        outcome = { changed, refused: taken.refused }
        return news
      })
      for (const id of known) await approve(id, { by })
      return outcome
    },
    patch: async (id, patch, author) =>
      await change(id, { change: 'edited', author, decides: patch.content !== undefined }, (document) =>
        toPatched(document, patch),
      ),
    confirm: async (id, { provenance: place, ...author }) =>
      await change(id, { change: 'confirmed', author }, (document) => {
        if (!place) return { ...document, updatedAt: '' }
        if (isFrom(document, place)) return document
        return { ...document, confirmations: [...document.confirmations, place] }
      }),
    retire: async (id, author) =>
      await change(id, { change: 'retired', author }, (document) =>
        document.retiredAt === undefined
          ? { ...document, retiredAt: new Date(now()).toISOString() }
          : document,
      ),
    restore: async (id, { from, ...author }) =>
      await change(id, { change: 'restored', author, decides: from !== undefined }, (document, fold) => {
        if (from === undefined) return toPatched(document, { retiredAt: undefined, supersededBy: undefined })
        const old = fold.versions(id).find(({ version }) => version === from)
        if (!old) throw notFound(`${id}, version ${from}`)
        return old.document
      }),
    async erase(id, { by }) {
      const left = toErased(getDocument(id), log.fold(), {
        by,
        at: new Date(now()).toISOString(),
        key: mintId(),
      })
      if (closed) throw isClosed()
      await log.erase(id, left)
      tell()
      return left.document
    },
    supersede: async (id, newer, author) =>
      await change(id, { change: 'superseded', author }, (document, fold) => {
        if (!fold.find(newer)) throw notFound(newer)
        if (findEnd(newer, fold, id) === undefined) throw isCircle(id, newer)
        return { ...document, supersededBy: newer }
      }),
    pin: async (id, author) =>
      await change(id, { change: 'pinned', author }, (document) => ({ ...document, pinned: true })),
    unpin: async (id, author) =>
      await change(id, { change: 'unpinned', author }, (document) => ({ ...document, pinned: false })),
    expire: async (id, at, author) =>
      await change(id, { change: 'expiry-set', author }, (document) =>
        toPatched(document, { expiresAt: at }),
      ),
    approve,
    decide: async (id, key, author) =>
      await change(id, { change: 'edited', author, decides: true }, (_, fold) => {
        const kept = fold.ends(id).find((one) => versionKeyOf(one) === key)
        if (!kept) throw notFound(`${id}, version ${key}`)
        return kept.document
      }),
    find: (id) => (isDeleted(id) ? undefined : toShown(log.fold(), id)),
    findFrom: (at) => [...log.fold().current()].find((document) => isFrom(document, at)),
    findNewest: (id) => findEnd(id, log.fold(), undefined),
    versions: (id) => log.fold().versions(id),
    query,
    subscribe(asked, listener) {
      const one: Waiting = { query: asked, listener, told: query(asked) }
      waiting.add(one)
      listener(toDelivery([], one.told))
      return () => waiting.delete(one)
    },
    async refresh() {
      await log.refresh()
      tell()
    },
    async close() {
      closed = true
      waiting.clear()
      await writing
    },
  }
}
