import { setTimeout as sleep } from 'node:timers/promises'
import { ThroughlineError } from '#base'
import {
  createWatches,
  readHits,
  type IndexedHit,
  type IndexedPage,
  type Watch,
  type WatchOptions,
} from '#ingest'
import {
  embeddedPrices,
  openPostgresStore,
  toHitCursors,
  toQuery,
  toSpentReport,
  type FoundEntry,
  type PostgresAddress,
  type Query,
  type PostgresStore,
} from '#store'
import type { SearchRequest, UsageReport, UsageRequest } from '#wire'

/** What other machines of the team have, as far as it may be seen. */
export interface TeamSearch {
  /** Rejects with `index-unavailable` when the database does not answer in time. */
  search(request: SearchRequest & { readonly limit: number }): Promise<IndexedPage>
  /** Hits among what other machines write from now on, or after the cursor. */
  watch(q: string, options: WatchOptions): Watch
  /** What the person used on all of his machines; `here`: what this one says. Rejects as `search` does. */
  usage(request: UsageRequest, here: Pick<UsageReport, 'compactions' | 'complete'>): Promise<UsageReport>
  /** There may be news. Without being told so, it is looked every few seconds. */
  hear(): void
  close(): Promise<void>
}

export interface TeamSearchOptions {
  readonly address: PostgresAddress
  /** Where a file of another machine is mirrored here. Not there: it is not here yet, or not any more. */
  readonly mirrorPathOf: (origin: string, path: string) => string | undefined
  readonly now: () => number
  /** How long a search waits for the database. */
  readonly patienceMs?: number | undefined
  readonly pollMs?: number | undefined
}

const PATIENCE_MS = 3000
/** After the database did not answer, nobody waits for it again for so long. */
const REST_MS = 5000
/** After so many in a row it is taken for one that is away. */
const MOST_TOO_LATE = 3
const TOO_LATE = new Error('too late')
const POLL_MS = 2000
const CONNECTIONS = 3
/** What nobody waits for any more ends. */
const STATEMENT_MS = 10_000
/** Hits that are told to somebody who waits at a time. */
const NEWS = 200
/** What is in the index may be in the mirror a little later. */
const COMING_MS = 300
const COMING_LOOKS = 20

/** Opens nothing until somebody asks. */
export function openTeamSearch(options: TeamSearchOptions): TeamSearch {
  const { address, now, patienceMs = PATIENCE_MS } = options
  const closing = new AbortController()
  let opening: Promise<PostgresStore> | undefined
  let opened: PostgresStore | undefined
  let restUntil = 0
  /** How many searches in a row took too long. */
  let tooLate = 0
  let watching: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isOpen = false
  let waiting = 0
  const watches = createWatches({
    search: async (query, newerThan) =>
      (await (await store()).search({ query, limit: NEWS, newerThan })).hits,
    show: showNews,
    now,
  })

  function store(): Promise<PostgresStore> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  async function open(): Promise<PostgresStore> {
    const made = await openPostgresStore({
      address,
      finds: 'others',
      most: CONNECTIONS,
      statementMs: STATEMENT_MS,
    })
    opened = made
    // Nobody waited for it.
    if (closing.signal.aborted) await made.close()
    return made
  }

  /** Own hits are not kept waiting by a database that is away, and one search that is slow does not make it away. */
  async function ask<T>(work: (from: PostgresStore) => Promise<T>): Promise<T> {
    if (performance.now() < restUntil) throw isAway(undefined)
    const patience = new AbortController()
    const answer = store().then(work)
    // Nobody waits for it any more when it is too late.
    answer.catch(() => {})
    try {
      const answered = await Promise.race([answer, tiring(patience.signal)])
      tooLate = 0
      return answered
    } catch (error) {
      if (error instanceof ThroughlineError && error.code === 'request-invalid') throw error
      const isSlow = error === TOO_LATE && opened !== undefined
      if (isSlow) tooLate++
      if (!isSlow || tooLate >= MOST_TOO_LATE) restUntil = performance.now() + REST_MS
      throw isSlow ? isTooSlow(patienceMs) : isAway(error)
    } finally {
      patience.abort()
    }
  }

  async function tiring(signal: AbortSignal): Promise<never> {
    await sleep(patienceMs, undefined, { signal, ref: false }).catch(() => {})
    throw TOO_LATE
  }

  function toHere(found: FoundEntry): FoundEntry | undefined {
    const path = options.mirrorPathOf(found.origin ?? '', found.path)
    return path === undefined ? undefined : { ...found, path }
  }

  async function showNews(found: readonly FoundEntry[], query: Query): Promise<readonly IndexedHit[]> {
    const hits: IndexedHit[] = []
    for (const each of found) {
      for (let times = 0; times < COMING_LOOKS && !closing.signal.aborted; times++) {
        const here = toHere(each)
        const [hit] = here === undefined ? [] : (await readHits([here], query)).hits
        if (hit !== undefined) {
          hits.push(hit)
          break
        }
        await sleep(COMING_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {})
      }
    }
    return hits
  }

  function hear(): void {
    if (waiting === 0 || closing.signal.aborted) return
    looking ??= look()
      .catch(() => {})
      .finally(() => {
        looking = undefined
      })
  }

  async function look(): Promise<void> {
    const from = await store()
    const newest = await from.newest()
    if (!isOpen) {
      isOpen = true
      watches.open(from.epoch, newest)
    } else await watches.committed(newest)
  }

  return {
    async search({ q, limit, cursor }) {
      const query = toQuery(q, now())
      if (query.isEmpty) return { hits: [], total: { count: 0, exact: true }, notes: [] }
      // With reading the lines: what of them is not here yet is fetched.
      return await ask(async (from) => {
        const found = await from.search({ query, limit, ...(cursor === undefined ? {} : { cursor }) })
        const cursors = toHitCursors(found.hits, query, cursor)
        const here = found.hits.flatMap((hit, n) => {
          const mirrored = toHere(hit)
          return mirrored === undefined ? [] : { mirrored, after: cursors[n] ?? '' }
        })
        const { hits } = await readHits(
          here.map(({ mirrored }) => mirrored),
          query,
          here.map(({ after }) => after),
        )
        const { next, total, notes } = found
        return { hits, ...(next === undefined ? {} : { next }), total, notes }
      })
    },
    watch(q, how) {
      waiting++
      watching ??= setInterval(hear, options.pollMs ?? POLL_MS).unref()
      const watch = watches.add(q, how)
      hear()
      return {
        close() {
          watch.close()
          waiting--
          if (waiting > 0) return
          clearInterval(watching)
          watching = undefined
        },
      }
    },
    usage: async (request, { compactions, complete }) => ({
      ...toSpentReport(await ask((from) => from.spent()), request, { prices: embeddedPrices(), complete }),
      compactions,
      machines: 'mine',
    }),
    hear,
    async close() {
      closing.abort()
      clearInterval(watching)
      if (opened === undefined) return
      await looking
      await opened.close().catch(() => {})
    },
  }
}

function isTooSlow(ms: number): ThroughlineError {
  const message = `the database of the team took longer than ${ms / 1000} s`
  return new ThroughlineError('index-unavailable', message, {
    hint: 'Search for rarer words, or narrow it down with a facet such as workdir: or after:.',
  })
}

function isAway(cause: unknown): ThroughlineError {
  const why = cause instanceof ThroughlineError ? cause.message : 'the database of the team does not answer'
  return new ThroughlineError('index-unavailable', why, {
    hint: 'What is on this machine is found all the while. `throughline team status` says more.',
    cause,
  })
}
