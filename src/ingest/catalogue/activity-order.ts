import { byActivity, type SessionSummary } from '#model'

/** What the order goes by. */
type Listed = Pick<SessionSummary, 'id' | 'lastActivityAt'>

/**
 * Sessions in the order of their activity, most recent first. A change is only noted; the changes since the last list
 * are merged into it when the next one is asked for, so that a thousand changes cost one pass and not a thousand.
 */
export interface ActivityOrder<Session extends Listed> {
  /** `before` is listed no longer, `after` is listed from now on. */
  change(before: Session | undefined, after: Session | undefined): void
  /** The same array as before when nothing changed. It is never changed once it was given. */
  list(): readonly Session[]
}

export function createActivityOrder<Session extends Listed>(
  compare: (a: Session, b: Session) => number = byActivity,
): ActivityOrder<Session> {
  let listed: readonly Session[] = []
  /** Those in `listed` that are listed no longer, and those that are to be listed. */
  const removed = new Set<Session>()
  const added = new Set<Session>()

  function place(session: Session, among: readonly Session[], from: number): number {
    let low = from
    for (let high = among.length; low < high;) {
      const middle = (low + high) >> 1
      const other = among[middle]
      if (other !== undefined && compare(other, session) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    change(before, after) {
      if (before !== undefined && !added.delete(before)) removed.add(before)
      if (after !== undefined && !removed.delete(after)) added.add(after)
    },
    list() {
      if (removed.size === 0 && added.size === 0) return listed
      const kept = removed.size === 0 ? listed : listed.filter((session) => !removed.has(session))
      const parts: (readonly Session[])[] = []
      let from = 0
      for (const session of [...added].toSorted(compare)) {
        const to = place(session, kept, from)
        parts.push(kept.slice(from, to), [session])
        from = to
      }
      listed = [...parts.flat(), ...kept.slice(from)]
      removed.clear()
      added.clear()
      return listed
    },
  }
}
