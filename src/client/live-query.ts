import type { DocumentQuery, MemoryDocument } from '#model'
import type { LiveEvent, Throughline } from '#wire'

/** Documents that match, kept up as they change. */
export interface LiveQuery<T> {
  /** Those that match now. The same list until something is different. */
  readonly docs: readonly T[]
  /** Whether everything that was there at the beginning has been told. */
  readonly isCaughtUp: boolean
  /** Called whenever `docs` is another list. Returns how to stop it. */
  subscribe(listener: () => void): () => void
  /** Ends it; `docs` stays as it is. */
  close(): void
}

/** Listens to a query. It goes on after a broken connection by itself; what was told before stays until then. */
export function liveQuery(
  throughline: Pick<Throughline, 'subscribe'>,
  query: DocumentQuery,
): LiveQuery<MemoryDocument> {
  return chosenQuery(throughline, query, (documents) => documents)
}

/** The same, with something made of what matches. */
export function chosenQuery<T>(
  throughline: Pick<Throughline, 'subscribe'>,
  query: DocumentQuery,
  choose: (documents: readonly MemoryDocument[]) => readonly T[],
): LiveQuery<T> {
  const listeners = new Set<() => void>()
  const known = new Map<string, MemoryDocument>()
  let docs: readonly T[] = []
  let isCaughtUp = false

  function take(event: LiveEvent): void {
    switch (event.kind) {
      case 'reset':
        known.clear()
        isCaughtUp = false
        return
      case 'documents.changed':
        for (const id of event.removed) known.delete(id)
        for (const document of [...event.added, ...event.changed]) known.set(document.id, document)
        if (isCaughtUp) tell()
        return
      case 'caught-up':
        isCaughtUp = true
        tell()
        return
      case 'entry.added':
      case 'session.changed':
      case 'session.removed':
      case 'live.view':
      case 'live.event':
      case 'live.none':
      case 'board.changed':
      case 'board.removed':
      case 'hit.found':
    }
  }

  /** What was told before a connection broke stays until all of it was told again. */
  function tell(): void {
    docs = choose([...known.values()].toSorted(byAge))
    for (const listener of listeners) listener()
  }

  const subscription = throughline.subscribe({ kind: 'documents', query }, { onEvent: take })
  return {
    get docs() {
      return docs
    },
    get isCaughtUp() {
      return isCaughtUp
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => subscription.close(),
  }
}

function byAge(a: MemoryDocument, b: MemoryDocument): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
