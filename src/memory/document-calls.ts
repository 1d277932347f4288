import type {
  DocumentDelivery,
  DocumentDraft,
  DocumentPatch,
  DocumentQuery,
  DocumentVersion,
  MemoryDocument,
  Provenance,
} from '#model'

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

export interface TakeInHow extends Author {
  readonly from?: string | undefined
}

export interface TakeInOutcome {
  /** Documents that are others now. */
  readonly changed: ReadonlySet<string>
  /** Documents that are known here and say something else in the file: they stay as they are. */
  readonly refused: readonly string[]
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
  /**
   * Adds versions that were written elsewhere. With `from`, where they came from, nobody here answers for them: they
   * wait for a person, and change nothing that somebody here has decided about. Without it they are taken at their
   * word, except where the same waits already: then it is approved.
   */
  takeIn(versions: readonly DocumentVersion[], how: TakeInHow): Promise<TakeInOutcome>
  /** Changes some fields. The version before is kept. Nothing is written when nothing changes. */
  patch(id: string, patch: DocumentPatch, author: Author): Promise<MemoryDocument>
  /** Said again, elsewhere: the document is as new. Once for each place, however often that is read. */
  confirm(id: string, author: Author & { readonly provenance?: Provenance }): Promise<MemoryDocument>
  retire(id: string, author: Author): Promise<MemoryDocument>
  /** Takes back that it was retired or superseded; with `from`, its fields are those of that version. */
  restore(id: string, author: Author & { readonly from?: number }): Promise<MemoryDocument>
  /**
   * Removes its words and every earlier version from the log for good. Rejects with `request-invalid` when it was
   * shared, or another machine has versions of it: those copies would stay.
   */
  erase(id: string, author: Author): Promise<MemoryDocument>
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
