import { TIERS } from './entry-codes.ts'
import type { Query } from './query.ts'
import type { FoundEntry } from './store.ts'

/**
 * For each hit of a page the cursor right behind it, so that somebody who takes only some of a page knows where the
 * rest begins. `cursor`: that of the page.
 */
export function toHitCursors(
  hits: readonly FoundEntry[],
  query: Query,
  cursor: string | undefined,
): readonly string[] {
  const [tier = 0, skip = 0] = (cursor ?? '0.0').split('.').map(Number)
  const isWeighed = query.clauses.some(({ not }) => !not)
  if (!isWeighed) return hits.map((_, n) => `0.${skip + n + 1}`)
  const taken = new Map([[tier, skip]])
  return hits.map(({ where }) => {
    const of = TIERS.indexOf(where)
    const count = (taken.get(of) ?? 0) + 1
    taken.set(of, count)
    return `${of}.${count}`
  })
}
