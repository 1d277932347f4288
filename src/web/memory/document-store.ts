import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { RemoteThroughline } from '#client'
import type { DocumentQuery, DocumentState, MemoryDocument, Provenance } from '#model'
import type { LiveEvent, Subscription } from '#wire'
import { toTrouble, type Trouble } from '../answer.ts'
import { useShared } from '../shared.ts'

/** Every state that a document can be in. */
export const STATES: readonly DocumentState[] = ['active', 'quarantined', 'expired', 'superseded', 'retired']

/** Everything that is remembered, as it is now. */
export interface DocumentStore {
  readonly documents: ReadonlySignal<ReadonlyMap<string, MemoryDocument>>
  /** Whether all that there is has been told. */
  readonly isWhole: ReadonlySignal<boolean>
  readonly trouble: ReadonlySignal<Trouble | undefined>
  /** What was promoted at a place, or was known when it was said there again. */
  findAt(place: Omit<Provenance, 'sessionId'>): MemoryDocument | undefined
  close(): void
}

type Subscribe = (
  query: DocumentQuery,
  how: { readonly onEvent: (event: LiveEvent) => void; readonly onError: (error: Error) => void },
) => Subscription

/** Follows all documents that people and agents wrote. What was told before stays until the new is whole. */
export function openDocumentStore(subscribe: Subscribe): DocumentStore {
  const documents = signal<ReadonlyMap<string, MemoryDocument>>(new Map())
  const isWhole = signal(false)
  const trouble = signal<Trouble | undefined>(undefined)
  let anew: Map<string, MemoryDocument> | undefined

  function take(event: LiveEvent): void {
    if (event.kind === 'reset') anew = new Map()
    if (event.kind === 'caught-up') {
      if (anew !== undefined) documents.value = anew
      anew = undefined
      isWhole.value = true
      trouble.value = undefined
    }
    if (event.kind !== 'documents.changed') return
    const next = anew ?? new Map(documents.value)
    for (const document of [...event.added, ...event.changed]) next.set(document.id, document)
    for (const id of event.removed) next.delete(id)
    if (anew === undefined) documents.value = next
  }

  const subscription = subscribe(
    { type: ['learning', 'marker', 'teaching'], state: STATES },
    { onEvent: take, onError: (error) => (trouble.value = toTrouble(error)) },
  )
  const byPlace = computed(() => {
    const places = new Map<string, MemoryDocument>()
    for (const document of documents.value.values()) {
      for (const place of document.confirmations) places.set(toKey(place), document)
    }
    // Who said it first counts before who said it again.
    for (const document of documents.value.values()) {
      if (document.provenance !== undefined) places.set(toKey(document.provenance), document)
    }
    return places
  })
  return {
    documents,
    isWhole,
    trouble,
    findAt: (place) => byPlace.value.get(toKey(place)),
    close: () => subscription.close(),
  }
}

function toKey({ entryId, block, position }: Omit<Provenance, 'sessionId'>): string {
  return `${entryId} ${block} ${position}`
}

interface Held {
  readonly store: DocumentStore
  users: number
}

const held = new WeakMap<RemoteThroughline, Held>()
/** Who comes back within this time finds everything there. */
const STAYS_MS = 20_000

/** The documents of the app, followed for as long as somebody shows some of them. */
export function useDocuments(): DocumentStore {
  const { throughline } = useShared()
  const mine = useMemo(() => {
    const known = held.get(throughline) ?? {
      users: 0,
      store: openDocumentStore((query, how) => throughline.subscribe({ kind: 'documents', query }, how)),
    }
    held.set(throughline, known)
    return known
  }, [throughline])
  useEffect(() => {
    mine.users += 1
    return () => {
      mine.users -= 1
      setTimeout(() => {
        if (mine.users > 0 || held.get(throughline) !== mine) return
        held.delete(throughline)
        mine.store.close()
      }, STAYS_MS)
    }
  }, [mine])
  return mine.store
}
