import type { Row } from '../catalogue-row.ts'

/** The sessions of the catalogue, by the paths of their transcripts and by their ids. */
export interface Rows {
  readonly byPath: ReadonlyMap<string, Row>
  add(row: Row): void
  remove(row: Row): void
  /** Those with this id: one, unless it is in several places. */
  ofId(id: string): Iterable<Row>
  ids(): Iterable<string>
}

export function createRows(): Rows {
  const byPath = new Map<string, Row>()
  const byId = new Map<string, Set<Row>>()

  function remove(row: Row): void {
    const { id, path } = row.files
    if (byPath.get(path) === row) byPath.delete(path)
    const same = byId.get(id)
    same?.delete(row)
    if (same?.size === 0) byId.delete(id)
  }

  return {
    byPath,
    add(row) {
      const { id, path } = row.files
      const before = byPath.get(path)
      if (before !== undefined) remove(before)
      byPath.set(path, row)
      const same = byId.get(id)
      if (same === undefined) byId.set(id, new Set([row]))
      else same.add(row)
    },
    remove,
    ofId: (id) => byId.get(id) ?? [],
    ids: () => byId.keys(),
  }
}
