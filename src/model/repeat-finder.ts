import type { Entry } from './entry.ts'
import { createIdTable } from './id-table.ts'

/** Finds ids that more than one line of a session has, however many lines it has. Keeps ids only. */
export function createRepeatFinder(): { add(entry: Entry): void; readonly ids: ReadonlySet<string> } {
  const known = createIdTable()
  const ids = new Set<string>()
  return {
    ids,
    add({ id, link }) {
      // Lines without an id of their own are named by their place.
      if (link === undefined) return
      if (known.has(id)) ids.add(id)
      else known.add(id)
    },
  }
}
