import { ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
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
  readonly keeper: Keeper | undefined
  /** Whether there is to be an index: it is begun a little after the start. */
  readonly keepsIndex: boolean
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
  const found = await index.search({ ...request, limit }).catch(ifUnavailable)
  if (found === undefined) return scan(request, limit, places)
  const { hits, ...page } = found
  const isComplete = index.state().state === 'complete'
  if (!isComplete && hits.length < limit && request.cursor === undefined) {
    return scan(request, limit, places)
  }
  return {
    ...page,
    hits: hits.flatMap((hit) => toHit(keeper, hit) ?? []),
    index: isComplete ? 'complete' : 'building',
  }
}

/** An index that is being built again, or cannot be written, is no reason to find nothing. */
function ifUnavailable(error: unknown): undefined {
  if (error instanceof ThroughlineError && error.code === 'index-unavailable') return undefined
  throw error
}

async function scan(
  request: SearchRequest,
  limit: number,
  { sessions, now, keeper, keepsIndex }: SearchPlaces,
): Promise<SearchPage> {
  const query = toQuery(request.q, now)
  const page = await scanSearch({ sessions, query, limit, cursor: request.cursor })
  if (!keepsIndex) return page
  return { ...page, index: keeper?.index?.state().state === 'complete' ? 'complete' : 'building' }
}
