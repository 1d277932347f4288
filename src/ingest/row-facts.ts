import { isMereCopy, type LiveState, type SessionSummary } from '#model'
import { toShown, type CatalogueOptions, type Row, type RowFacts } from './catalogue-row.ts'

/** What is known of a session right now, among all that there are. */
export function factsOf(row: Row, rows: Iterable<Row>, options: CatalogueOptions): RowFacts {
  const { id, copiedFrom } = row.summary
  const { name, starred } = options.preferenceOf(id)
  const copied = options.copyOf?.(id) ?? copiedFrom
  const isHere = copied !== undefined && findRow(rows, copied.id) !== undefined
  return {
    live: liveOf(row, options),
    name,
    starred,
    counts: options.countsOf(id),
    copiedFrom: isHere ? { ...copied, here: true } : copied,
  }
}

/** Processes of this machine hold sessions of this machine. */
function liveOf({ from, summary }: Row, options: CatalogueOptions): LiveState | undefined {
  if (from.isMirror === true) return options.liveElsewhere?.(summary.id)
  return from.isArchive ? undefined : options.liveOf(summary.id)
}

/** Whether nothing was said in it that is not in another session that is shown, which it was copied from. */
export function isCopy(row: Row, rows: Iterable<Row>, options: CatalogueOptions): boolean {
  const { copiedFrom } = row.summary
  if ((options.copyOf?.(row.summary.id) ?? copiedFrom) === undefined) return false
  const all = [...rows]
  const toCopy = (one: Row): SessionSummary => ({ ...one.summary, ...factsOf(one, all, options) })
  return isMereCopy(toCopy(row), (id) => {
    const origin = findRow(all, id)
    return origin && toCopy(origin)
  })
}

/** Those of them that are not shown because of that. */
export function copiesOf(rows: Iterable<Row>, options: CatalogueOptions): readonly SessionSummary[] {
  const all = [...rows]
  return all.flatMap((row) =>
    row.isAllowed && isCopy(row, all, options) ? [toShown(row, factsOf(row, all, options))] : [],
  )
}

function findRow(rows: Iterable<Row>, id: string): Row | undefined {
  for (const row of rows) if (row.isAllowed && row.summary.id === id) return row
  return undefined
}
