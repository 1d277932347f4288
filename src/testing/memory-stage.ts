import {
  toDelivery,
  type DocumentDraft,
  type DocumentPatch,
  type DocumentQuery,
  type MemoryDocument,
} from '#model'
import type { LiveEvent, RememberOutcome } from '#wire'

/** Whether everything that was there has been told. */
export function isCaughtUp(events: readonly LiveEvent[]): boolean {
  return events.some(({ kind }) => kind === 'caught-up')
}

/** What a device has that took these events in, oldest first. */
export function foldEvents(events: readonly LiveEvent[]): readonly MemoryDocument[] {
  const known = new Map<string, MemoryDocument>()
  for (const event of events) {
    if (event.kind === 'reset') known.clear()
    if (event.kind !== 'documents.changed') continue
    for (const id of event.removed) known.delete(id)
    for (const document of [...event.added, ...event.changed]) known.set(document.id, document)
  }
  return toDelivery([], [...known.values()].toSorted(byAge)).documents
}

function byAge(a: MemoryDocument, b: MemoryDocument): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : 1
}

/** The document of an outcome, which must be of this kind. */
export function documentOf(
  outcome: RememberOutcome,
  kind: 'remembered' | 'confirmed' | 'held',
): MemoryDocument {
  if (outcome.kind === kind && 'document' in outcome) return outcome.document
  throw new Error(`expected ${kind}, got ${JSON.stringify(outcome)}`)
}

/** A text as bytes cross the network. */
export function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** What somebody may ask who has no compiler. */
export function asQuery(value: object): DocumentQuery {
  return value
}

/** What somebody may change who has no compiler. */
export function asPatch(value: object): DocumentPatch {
  return value
}

/** What somebody may put who has no compiler. */
export function asDraft(value: object): DocumentDraft {
  return Object.assign(Object.create(null), value)
}
