import { ThroughlineError } from '#base'
import type { SessionIndex } from '#ingest'
import type { SessionSummary } from '#model'
import { toQuery } from '#store'
import type { SearchPage, SearchRequest } from '#wire'
import type { Keeper } from './keeper.ts'
import { END, mergePages, type Side } from './merged-pages.ts'
import { toHit } from './query-topic.ts'
import { scanSearch } from './scan-search.ts'
import type { TeamSearch } from './team-search.ts'

const PAGE = 20
const LARGEST_PAGE = 200

/** Where a search looks. */
export interface SearchPlaces {
  /** Most recently active first. */
  readonly sessions: readonly SessionSummary[]
  readonly keeper: Pick<Keeper, 'index' | 'sessionOf'> | undefined
  /** Whether there is to be an index: it is begun a little after the start. */
  readonly keepsIndex: boolean
  /** What other machines have. Not there where there is no team. */
  readonly team?: Pick<TeamSearch, 'search'> | undefined
  readonly now: number
}

/**
 * Asks the index and names the sessions of its hits. Where there is none, and while it is built and has too few, the
 * transcripts themselves are searched: nobody is told that something is not there because it is not indexed yet. What
 * other machines share is found among one's own; when their database does not answer, one's own are found without.
 */
export async function search(request: SearchRequest, places: SearchPlaces): Promise<SearchPage> {
  const { keeper } = places
  const limit = Math.min(request.limit ?? PAGE, LARGEST_PAGE)
  const index = keeper?.index
  if (keeper === undefined || index === undefined || request.cursor?.startsWith('scan.') === true) {
    return await scan(request, limit, places)
  }
  const at = readCursor(request.cursor)
  const isComplete = index.state().state === 'complete'
  let first = at.own === END ? undefined : await askFirst(index, request, { limit, cursor: at.own })
  if (at.own !== END) {
    const isTooFew = !isComplete && first !== undefined && first.hits.length < limit && at.own === undefined
    if (first === undefined || isTooFew) return await scan(request, limit, places)
  }
  const own: Side = {
    async ask(count, cursor) {
      const known = first
      first = undefined
      return known ?? (await index.search({ q: request.q, limit: count, ...optional(cursor) }))
    },
    toShown: (hit) => toHit(keeper, hit),
    from: at.own,
  }
  const { page, next, team } = await withTeam(own, { request, limit, places, from: at.team })
  return { ...page, ...toNext(next, team), index: isComplete ? 'complete' : 'building', ...team }
}

type Found = Awaited<ReturnType<SessionIndex['search']>>
type TeamState = { readonly team?: 'searched' | 'away' }

interface Asked {
  readonly request: SearchRequest
  readonly limit: number
  readonly places: SearchPlaces
  /** Where the team's go on. */
  readonly from: string | undefined
}

/** One's own, and what the team has, when it answers. */
async function withTeam(
  own: Side,
  { request, limit, places, from }: Asked,
): Promise<{
  readonly page: Pick<SearchPage, 'hits' | 'total' | 'notes'>
  readonly next: readonly (string | undefined)[]
  readonly team: TeamState
}> {
  const { keeper, team, now } = places
  const query = toQuery(request.q, now)
  const how = { limit, isWeighed: query.clauses.some(({ not }) => !not) }
  if (team === undefined || keeper === undefined) {
    const { next, ...page } = await mergePages([own], how)
    return { page, next, team: {} }
  }
  const ask = (count: number, cursor: string | undefined): Promise<Found> =>
    team.search({ q: request.q, limit: count, ...optional(cursor) })
  // It is asked before one's own are counted up, so that a database that is away costs its patience once.
  const isEnd = from === END
  let why = ''
  let first = await ask(isEnd ? 1 : limit, isEnd ? undefined : from).catch((error: unknown) => {
    why = error instanceof Error ? error.message : ''
    return ifUnavailable(error)
  })
  if (first === undefined) {
    const { next, ...page } = await mergePages([own], how)
    const total = { ...page.total, exact: false }
    return {
      page: { ...page, total, notes: [...page.notes, `${AWAY} ${why}.`] },
      next: [...next, from],
      team: { team: 'away' },
    }
  }
  const theirs: Side = {
    async ask(count, cursor) {
      const known = first
      first = undefined
      return known ?? (await ask(count, cursor))
    },
    toShown: (hit) => toHit(keeper, hit),
    from,
  }
  const { next, ...page } = await mergePages([own, theirs], how)
  return { page, next, team: { team: 'searched' } }
}

const AWAY = 'What other machines share was not searched:'

async function askFirst(
  index: SessionIndex,
  { q }: SearchRequest,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): Promise<Found | undefined> {
  return await index.search({ q, limit, ...optional(cursor) }).catch(ifUnavailable)
}

function optional(cursor: string | undefined): { readonly cursor?: string } {
  return cursor === undefined ? {} : { cursor }
}

/** Where one's own and the team's go on: `both~0.20~0.5`. Without a team it is the cursor of one's own alone. */
function readCursor(cursor: string | undefined): {
  readonly own: string | undefined
  readonly team: string | undefined
} {
  if (cursor === undefined || !cursor.startsWith('both~')) return { own: cursor, team: undefined }
  const [, own, team] = /^both~([\d.]*|end)~([\d.]*|end)$/.exec(cursor) ?? []
  if (own !== undefined && team !== undefined) return { own: own || undefined, team: team || undefined }
  throw new ThroughlineError('request-invalid', `${JSON.stringify(cursor.slice(0, 80))} is not a cursor`, {
    hint: 'Give the `next` of a page of hits as it is.',
  })
}

function toNext(
  [own, theirs]: readonly (string | undefined)[],
  { team }: TeamState,
): { readonly next?: string } {
  if (team === undefined) return own === undefined || own === END ? {} : { next: own }
  if (own === END && (theirs === END || team === 'away')) return {}
  return { next: `both~${own ?? ''}~${theirs ?? ''}` }
}

/** An index that is being built again, or cannot be written, is no reason to find nothing. */
function ifUnavailable(error: unknown): undefined {
  if (error instanceof ThroughlineError && error.code === 'index-unavailable') return undefined
  throw error
}

/** Reads one's own transcripts; when they are through, what the team has follows. */
async function scan(request: SearchRequest, limit: number, places: SearchPlaces): Promise<SearchPage> {
  const { now, keeper, keepsIndex } = places
  const query = toQuery(request.q, now)
  const sessions = places.sessions.filter(({ origin }) => origin === undefined)
  const cursor = request.cursor?.startsWith('both~') === true ? undefined : request.cursor
  const page = await scanSearch({ sessions, query, limit, cursor })
  if (!keepsIndex) return page
  const index = keeper?.index?.state().state === 'complete' ? 'complete' : 'building'
  const isLast = page.next === undefined && places.team !== undefined && keeper !== undefined
  if (!isLast) return { ...page, index }
  const {
    page: rest,
    next,
    team,
  } = await withTeam(NOTHING, {
    request,
    limit: Math.max(1, limit - page.hits.length),
    places,
    from: undefined,
  })
  const hits = [...page.hits, ...rest.hits].slice(0, limit)
  const isCut = hits.length < page.hits.length + rest.hits.length
  return {
    ...page,
    hits,
    total: {
      count: page.total.count + rest.total.count,
      exact: page.total.exact && rest.total.exact,
    },
    notes: [...new Set([...page.notes, ...rest.notes])],
    ...toNext([END, isCut ? undefined : next[1]], team),
    index,
    ...team,
  }
}

/** What was read is not read again. */
const NOTHING: Side = {
  ask: () => Promise.resolve({ hits: [], total: { count: 0, exact: true }, notes: [] }),
  toShown: () => undefined,
  from: END,
}
