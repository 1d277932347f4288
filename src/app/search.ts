import type { SessionSummary } from '#model'
import type { LineFormat } from '#sources'
import { toQuery } from '#store'
import type { SearchPage, SearchRequest } from '#wire'
import type { Keeper } from './keeper.ts'
import { toHit } from './list-topics.ts'
import { scanSearch } from './scan-search.ts'

const PAGE = 20
const LARGEST_PAGE = 200

/** Where a search looks. */
export interface SearchPlaces {
  /** Most recently active first. */
  readonly sessions: readonly SessionSummary[]
  readonly format: LineFormat
  readonly keeper: Keeper | undefined
  readonly now: number
}

/**
 * Asks the index and names the sessions of its hits. Where there is none, and while it is built and has too few, the
 * transcripts themselves are searched: nobody is told that something is not there because it is not indexed yet.
 */
export async function search(request: SearchRequest, places: SearchPlaces): Promise<SearchPage> {
  const { keeper } = places
  const limit = Math.min(request.limit ?? PAGE, LARGEST_PAGE)
  const index = keeper?.index
  if (keeper === undefined || index === undefined || request.cursor?.startsWith('scan.') === true) {
    return scan(request, limit, places)
  }
  const { hits, ...page } = await index.search({ ...request, limit })
  const isComplete = index.state().state === 'complete'
  if (!isComplete && hits.length < limit && request.cursor === undefined) {
    return { ...(await scan(request, limit, places)), index: 'building' }
  }
  return {
    ...page,
    hits: hits.flatMap((hit) => toHit(keeper, hit) ?? []),
    index: isComplete ? 'complete' : 'building',
  }
}

function scan(
  request: SearchRequest,
  limit: number,
  { sessions, format, now }: SearchPlaces,
): Promise<SearchPage> {
  return scanSearch({ sessions, format, query: toQuery(request.q, now), limit, cursor: request.cursor })
}
