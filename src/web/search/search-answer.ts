import { useEffect, useRef, useState } from 'preact/hooks'
import type { SearchHit, SearchPage, SearchRequest } from '#wire'
import { toTrouble, type Trouble } from '../answer.ts'

/** Everything that is known about a query so far. */
export interface SearchAnswer {
  /** The query that the hits are of. While another one is asked they are those of the one before. */
  readonly q: string
  readonly hits: readonly SearchHit[]
  readonly next?: string | undefined
  readonly total: SearchPage['total']
  readonly notes: readonly string[]
  readonly index: SearchPage['index']
}

export interface SearchProgress {
  readonly answer?: SearchAnswer | undefined
  readonly trouble?: Trouble | undefined
  /** `asking`: a new query. `more`: further hits of the same one. */
  readonly state: 'asking' | 'more' | 'idle'
}

/** Hits per page: a screenful and what is below it. */
const PAGE = 40

/**
 * Keeps up with a query. The answer before stays until the next one is there; what comes too late is dropped.
 * `round` asks the same query again when it changes.
 */
export function useSearch(
  search: (request: SearchRequest) => Promise<SearchPage>,
  q: string,
  round: unknown,
): SearchProgress & { readonly more: () => void; readonly again: () => void } {
  const [progress, setProgress] = useState<SearchProgress>({ state: q.trim() === '' ? 'idle' : 'asking' })
  const [attempt, setAttempt] = useState(0)
  const latest = useRef(0)

  async function settle(request: SearchRequest): Promise<SearchPage | Trouble> {
    try {
      return await search(request)
    } catch (error) {
      return toTrouble(error)
    }
  }

  useEffect(() => {
    const mine = ++latest.current
    if (q.trim() === '') {
      setProgress({ state: 'idle' })
      return
    }
    setProgress((before) => ({ answer: before.answer, state: 'asking' }))
    void settle({ q, limit: PAGE }).then(
      (page) =>
        mine === latest.current &&
        setProgress(
          'message' in page ? { trouble: page, state: 'idle' } : { answer: { ...page, q }, state: 'idle' },
        ),
    )
  }, [q, round, attempt])

  useEffect(
    () => () => {
      latest.current++
    },
    [],
  )

  function more(): void {
    const { answer, state } = progress
    if (state !== 'idle' || answer?.next === undefined) return
    const mine = latest.current
    setProgress({ answer, state: 'more' })
    void settle({ q: answer.q, limit: PAGE, cursor: answer.next }).then(
      (page) => mine === latest.current && setProgress(withMore(answer, page)),
    )
  }

  return { ...progress, more, again: () => setAttempt((count) => count + 1) }
}

function withMore(answer: SearchAnswer, page: SearchPage | Trouble): SearchProgress {
  if ('message' in page) return { answer, trouble: page, state: 'idle' }
  const hits = [...answer.hits, ...page.hits]
  return { answer: { ...answer, hits, next: page.next, total: page.total }, state: 'idle' }
}
