import { ThroughlineError } from '#base'
import type { IndexedHit, SessionIndex } from '#ingest'
import type { SessionSummary } from '#model'
import { toQuery } from '#store'
import type { SearchHit, SearchPage, SearchRequest } from '#wire'
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
  const isComplete = index.state().state === 'complete'
  if (!isComplete && found.hits.length < limit && request.cursor === undefined) {
    return scan(request, limit, places)
  }
  const ask = (rest: number, cursor: string): Promise<Found> =>
    index.search({ ...request, limit: rest, cursor })
  return {
    ...(await fill(found, { limit, ask, toShown: (hit) => toHit(keeper, hit) })),
    index: isComplete ? 'complete' : 'building',
  }
}

type Found = Awaited<ReturnType<SessionIndex['search']>>

/** A page of what is to be shown. Where some of what was found is not, more is asked for. */
async function fill(
  first: Found,
  {
    limit,
    ask,
    toShown,
  }: {
    readonly limit: number
    readonly ask: (limit: number, cursor: string) => Promise<Found>
    readonly toShown: (hit: IndexedHit) => SearchHit | undefined
  },
): Promise<Omit<SearchPage, 'index'>> {
  let page = first
  const hits = first.hits.flatMap((hit) => toShown(hit) ?? [])
  let leftOut = first.hits.length - hits.length
  while (leftOut > 0 && hits.length < limit && page.next !== undefined) {
    page = await ask(limit - hits.length, page.next)
    const more = page.hits.flatMap((hit) => toShown(hit) ?? [])
    leftOut += page.hits.length - more.length
    hits.push(...more)
  }
  const { next, notes } = page
  const { count, exact } = first.total
  const total = leftOut === 0 ? first.total : { count: count - leftOut, exact: exact && next === undefined }
  return { hits, ...(next === undefined ? {} : { next }), total, notes }
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
