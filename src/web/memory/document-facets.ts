import {
  toDocumentState,
  toFoldedWords,
  toMatching,
  type DocumentCategory,
  type DocumentQuery,
  type DocumentState,
  type DocumentType,
  type MemoryDocument,
} from '#model'
import { STATES } from './document-store.ts'
import { toAuthor } from './document-words.ts'

/** What a person narrowed the list to. Empty: to nothing. */
export interface Facets {
  readonly text: string
  readonly type: DocumentType | ''
  readonly category: DocumentCategory | ''
  readonly tag: string
  readonly workdir: string
  /** `now`: what counts now, which is also what is held back; a person has to see that. */
  readonly state: DocumentState | 'now' | 'all'
  readonly who: string
}

export const NO_FACETS: Facets = {
  text: '',
  type: '',
  category: '',
  tag: '',
  workdir: '',
  state: 'now',
  who: '',
}

/** What can be chosen in one menu, with how many there are. */
export interface FacetOption {
  readonly value: string
  readonly count: number
}

/** Those that fit, pinned ones first, then the latest. */
export function findFitting(
  documents: Iterable<MemoryDocument>,
  facets: Facets,
  now: number,
): readonly MemoryDocument[] {
  const found = toMatching(documents, toQuery(facets), now).filter(
    (document) => facets.who === '' || toAuthor(document) === facets.who,
  )
  return found.toSorted(
    (a, b) =>
      Number(b.pinned) - Number(a.pinned) ||
      (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0),
  )
}

/** What is asked for, as the daemon and the command line would be asked. */
function toQuery({ text, type, category, tag, workdir, state }: Facets): DocumentQuery {
  return {
    ...(type === '' ? {} : { type }),
    ...(category === '' ? {} : { category }),
    ...(tag === '' ? {} : { tags: [tag] }),
    ...(workdir === '' ? {} : { workdir }),
    ...(toFoldedWords(text).length === 0 ? {} : { text }),
    state: state === 'now' ? ['active', 'quarantined'] : state === 'all' ? STATES : state,
  }
}

const MOST = 60

/** The values that documents have, the most frequent first. */
export function toOptions(
  documents: Iterable<MemoryDocument>,
  read: (document: MemoryDocument) => readonly string[],
): readonly FacetOption[] {
  const counts = new Map<string, number>()
  for (const document of documents)
    for (const value of read(document)) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MOST)
}

/** How much there is, and how well it is kept. */
export interface Hygiene {
  readonly active: number
  readonly held: number
  readonly expired: number
  readonly pinned: number
}

export function toHygiene(documents: Iterable<MemoryDocument>, now: number): Hygiene {
  let [active, held, expired, pinned] = [0, 0, 0, 0]
  for (const document of documents) {
    const state = toDocumentState(document, now)
    if (state === 'active') active += 1
    if (state === 'quarantined') held += 1
    if (state === 'expired') expired += 1
    if (state === 'active' && document.pinned) pinned += 1
  }
  return { active, held, expired, pinned }
}
