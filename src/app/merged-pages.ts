import type { IndexedHit, IndexedPage } from '#ingest'
import type { SearchHit, SearchTier } from '#wire'

/** One index among several that are searched together. */
export interface Side {
  /** The hits from a cursor on. */
  readonly ask: (limit: number, cursor: string | undefined) => Promise<IndexedPage>
  /** A hit as it is shown; `undefined` when it is not to be. */
  readonly toShown: (hit: IndexedHit) => SearchHit | undefined
  /** Where it goes on; `end`: there is no more. Not given: from the beginning. */
  readonly from?: string | undefined
}

/** What several indexes found, in one order. */
export interface Merged {
  readonly hits: readonly SearchHit[]
  /** For each side where it goes on. */
  readonly next: readonly (string | undefined)[]
  readonly total: { readonly count: number; readonly exact: boolean }
  readonly notes: readonly string[]
}

/** Said of a side that has no more. */
export const END = 'end'

const TIERS: readonly SearchTier[] = ['said', 'thought', 'tool']

/**
 * The best of all sides: by what they stand in, then by weight, or by time where nothing was weighed. Each side keeps
 * its own order. What a side is not to show is passed over, and more is asked for.
 */
export async function mergePages(
  sides: readonly Side[],
  { limit, isWeighed }: { readonly limit: number; readonly isWeighed: boolean },
): Promise<Merged> {
  const readers = await Promise.all(sides.map((side) => openReader(side, limit)))
  const hits: SearchHit[] = []
  while (hits.length < limit) {
    let best: { readonly reader: Reader; readonly head: Head } | undefined
    for (const reader of readers) {
      const head = await reader.peek()
      if (head === undefined) continue
      if (best === undefined || isBefore(head.hit, best.head.hit, isWeighed)) best = { reader, head }
    }
    if (best === undefined) break
    hits.push(best.head.shown)
    best.reader.take()
  }
  return {
    hits,
    next: readers.map((reader) => reader.at()),
    total: {
      count: readers.reduce((sum, reader) => sum + reader.count(), 0),
      exact: readers.every((reader) => reader.isExact()),
    },
    notes: [...new Set(readers.flatMap((reader) => reader.notes()))],
  }
}

function isBefore(a: IndexedHit, b: IndexedHit, isWeighed: boolean): boolean {
  if (isWeighed) {
    const tiers = TIERS.indexOf(a.where) - TIERS.indexOf(b.where)
    if (tiers !== 0) return tiers < 0
    if (a.weight !== b.weight) return a.weight > b.weight
  }
  return (a.entry.at ?? '') > (b.entry.at ?? '')
}

interface Head {
  readonly hit: IndexedHit
  readonly shown: SearchHit
}

interface Reader {
  peek(): Promise<Head | undefined>
  take(): void
  at(): string | undefined
  count(): number
  isExact(): boolean
  notes(): readonly string[]
}

async function openReader({ ask, toShown, from }: Side, limit: number): Promise<Reader> {
  // Of one that has no more, only how much it had is wanted.
  const first = from === END ? await ask(1, undefined) : await ask(limit, from)
  const { total, notes } = first
  let page: IndexedPage = from === END ? { hits: [], total, notes } : first
  let nth = 0
  let at = from
  let leftOut = 0

  function shownAt(): Head | undefined {
    for (; nth < page.hits.length; nth++) {
      const hit = page.hits[nth]
      const shown = hit && toShown(hit)
      if (hit !== undefined && shown !== undefined) return { hit, shown }
      leftOut++
      at = hit?.after ?? at
    }
    return undefined
  }

  return {
    async peek() {
      for (;;) {
        const head = shownAt()
        if (head !== undefined || page.next === undefined) return head
        at = page.next
        page = await ask(limit, page.next)
        nth = 0
      }
    },
    take() {
      at = page.hits[nth]?.after ?? at
      nth++
    },
    at: () => (nth < page.hits.length ? at : (page.next ?? END)),
    count: () => total.count - leftOut,
    isExact: () => total.exact && (leftOut === 0 || page.next === undefined),
    notes: () => notes,
  }
}
