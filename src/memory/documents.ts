import { type DocumentDraft, type DocumentPatch } from '#model'
import { join } from 'node:path'
import { ThroughlineError } from '#base'
import { tellsSomething, toDelivery, toMatching, versionKeyOf } from '#model'
import type {
  DocumentChange,
  DocumentDelivery,
  DocumentFold,
  DocumentQuery,
  DocumentVersion,
  MemoryDocument,
  Provenance,
} from '#model'
import { findEnd, isFrom, isSame, toDocument, toPatched } from './document-draft.ts'
import { toCurrent, toShown } from './document-ends.ts'
import { createDocumentLog, toUnknown, type VersionsElsewhere } from './document-log.ts'

/** What became of a draft. `known` when a document of its id was there; that one is given, as it is now. */
export interface PutOutcome {
  readonly outcome: 'written' | 'known'
  readonly document: MemoryDocument
}

/** Who changes something, and optionally the version it was shown to them in. */
export interface Author {
  readonly by: string
  /** Refused with `document-changed` when the document has another one by now. */
  readonly version?: number
}

/** All documents and their versions. What a call changed is on disk when it resolves. */
export interface Documents {
  /**
   * Adds a document, unless one of its id is there: whatever was done with that one since, it stays as it is. Without
   * an id, one is made of the provenance, so that reading a line twice remembers once; without that, a new one.
   */
  put(draft: DocumentDraft, author: Author): Promise<PutOutcome>
  /** The same for many, with one lock and one sync. */
  putAll(
    drafts: readonly DocumentDraft[],
    author: Author & { readonly change?: 'put' | 'imported' },
  ): Promise<readonly PutOutcome[]>
  /** Adds versions that were written elsewhere, with all they say. Gives the ids of documents that are others now. */
  takeIn(versions: readonly DocumentVersion[]): Promise<ReadonlySet<string>>
  /** Changes some fields. The version before is kept. Nothing is written when nothing changes. */
  patch(id: string, patch: DocumentPatch, author: Author): Promise<MemoryDocument>
  /** Said again, elsewhere: the document is as new. Once for each place, however often that is read. */
  confirm(id: string, author: Author & { readonly provenance?: Provenance }): Promise<MemoryDocument>
  retire(id: string, author: Author): Promise<MemoryDocument>
  /** Takes back that it was retired or superseded; with `from`, its fields are those of that version. */
  restore(id: string, author: Author & { readonly from?: number }): Promise<MemoryDocument>
  /** A newer document stands for it. Rejects with `request-invalid` when that would lead in a circle. */
  supersede(id: string, newer: string, author: Author): Promise<MemoryDocument>
  pin(id: string, author: Author): Promise<MemoryDocument>
  unpin(id: string, author: Author): Promise<MemoryDocument>
  /** From `at` on it does not count; `undefined` takes that back. */
  expire(id: string, at: string | undefined, author: Author): Promise<MemoryDocument>
  /** A person decided that what was held back may count. */
  approve(id: string, author: Author): Promise<MemoryDocument>
  /** Of versions that were written without knowing of each other, a person keeps this one: it stands for all of them. */
  decide(id: string, key: string, author: Author): Promise<MemoryDocument>
  find(id: string): MemoryDocument | undefined
  /** The document that was promoted, or said again, at a place: when there is one, the place was read before. */
  findFrom(at: Provenance): MemoryDocument | undefined
  /** The last document in the chain of those that superseded it. */
  findNewest(id: string): MemoryDocument | undefined
  /** Oldest first. */
  versions(id: string): readonly DocumentVersion[]
  query(query: DocumentQuery): readonly MemoryDocument[]
  /**
   * Tells what matches, at once, and again whenever that is different. Returns how to stop it. A document that
   * expires is told with the next change or `refresh`.
   */
  subscribe(query: DocumentQuery, listener: (delivery: DocumentDelivery) => void): () => void
  /** Looks at what other processes have written, and tells whoever waits for it. */
  refresh(): Promise<void>
  close(): Promise<void>
}

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
    return toMatching(toCurrent(log.fold()), asked, now())
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
      if (!last) throw notFound(id)
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

  return {
    async put(draft, author) {
      const [outcome] = await putAll([draft], author)
      if (!outcome) throw notFound(draft.id ?? '')
      return outcome
    },
    putAll,
    async takeIn(versions) {
      let changed: ReadonlySet<string> = new Set()
      await write((fold) => {
        const news = toUnknown(versions, fold)
        changed = new Set(news.map(({ document }) => document.id))
        return news
      })
      return changed
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
    approve: async (id, author) =>
      await change(id, { change: 'approved', author }, (document) =>
        toPatched(document, { quarantine: undefined }),
      ),
    decide: async (id, key, author) =>
      await change(id, { change: 'edited', author, decides: true }, (_, fold) => {
        const kept = fold.ends(id).find((one) => versionKeyOf(one) === key)
        if (!kept) throw notFound(`${id}, version ${key}`)
        return kept.document
      }),
    find: (id) => toShown(log.fold(), id),
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

function notFound(id: string): ThroughlineError {
  return new ThroughlineError('document-not-found', `there is no document ${id}`, {
    hint: 'List the documents; retired ones are among them when asked for.',
  })
}

function hasChanged(id: string): ThroughlineError {
  return new ThroughlineError('document-changed', `${id} was changed since it was read`, {
    hint: 'Read it again, then change it.',
  })
}

function isCircle(id: string, newer: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `${newer} was itself superseded by ${id}`, {
    hint: 'Restore one of the two first.',
  })
}

function isClosed(): ThroughlineError {
  return new ThroughlineError('journal-closed', 'the documents were closed before the call', {
    hint: 'Open them again.',
  })
}
