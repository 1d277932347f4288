import { withChangedCalls, type ChangedCall, type Reading } from '#model'

/** What was made of each reading, so that what did not change stays the same object. */
const marked = new WeakMap<Reading, { readonly changes: readonly ChangedCall[]; readonly reading: Reading }>()

/** The readings with the calls that were changed since they were written. */
export function markChanged(
  readings: readonly Reading[],
  changes: readonly ChangedCall[],
): readonly Reading[] {
  if (changes.length === 0) return readings
  const byCall = new Map(changes.map((change) => [change.toolUseId, change]))
  return readings.map((reading) => {
    const known = marked.get(reading)
    if (known?.changes === changes) return known.reading
    const now = withChangedCalls(reading, byCall)
    if (now !== reading) marked.set(reading, { changes, reading: now })
    return now
  })
}
