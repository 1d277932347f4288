import type { CatalogueChange } from '#ingest'
import { byActivity, type SessionSummary } from '#model'

/** Sessions that are run and have no transcript yet. */
export interface ExpectedSessions {
  /** With nothing: it will have none. One that has a transcript is not expected any more. */
  expect(id: string, session: SessionSummary | undefined): void
  /** It has one now. */
  found(id: string): void
  /** Those that have one, and those that have none, most recently active first. */
  among(sessions: readonly SessionSummary[]): readonly SessionSummary[]
}

export function createExpectedSessions({
  isKnown,
  tell,
}: {
  readonly isKnown: (id: string) => boolean
  readonly tell: (change: CatalogueChange) => void
}): ExpectedSessions {
  const expected = new Map<string, SessionSummary>()
  return {
    expect(id, session) {
      const before = expected.get(id)
      if (isKnown(id) || (before === undefined && session === undefined)) return
      if (session === undefined) expected.delete(id)
      else expected.set(id, session)
      if (session !== undefined) tell({ kind: 'changed', session, files: [] })
      else if (before !== undefined) tell({ kind: 'removed', session: before })
    },
    found: (id) => void expected.delete(id),
    among(sessions) {
      return expected.size === 0 ? sessions : [...sessions, ...expected.values()].toSorted(byActivity)
    },
  }
}
