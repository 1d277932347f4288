import type { Reading } from '#model'

/** Where a file of a transcript that is kept in several begins, and which of the bytes before it it continues. */
export interface Seam {
  readonly at: number
  /** What stands from here on was taken back. */
  readonly backTo: number
}

/** Says of the first line behind each seam what it takes back. Lines that were read stay as they are otherwise. */
export function withSeams(readings: Reading[], seams: readonly Seam[] | undefined): Reading[] {
  if (seams === undefined || seams.length === 0) return readings
  return readings.map((reading) => {
    if (reading.kind === 'damage') return reading
    const { entry } = reading
    const seam = seams.find(({ at }) => at === entry.place.offset)
    if (seam === undefined) return reading
    const link = { parentId: undefined, sidechain: false, takesBack: { from: seam.backTo } }
    return { kind: 'entry', entry: { ...entry, link } }
  })
}
