import { isMereCopy, type LiveState, type SessionSummary } from '#model'
import type { Rows } from './catalogue/rows.ts'
import { toShown, type CatalogueOptions, type Row, type RowFacts } from './catalogue-row.ts'

/** What is known of a session right now, among all that there are. */
export function factsOf(row: Row, rows: Rows, options: CatalogueOptions): RowFacts {
  const { id, copiedFrom } = row.summary
  const { name, starred } = options.preferenceOf(id)
  const copied = options.copyOf?.(id) ?? copiedFrom
  const origin = copied === undefined ? undefined : findRow(rows, copied.id)
  const originName = origin?.summary.name
  const called = origin && (options.preferenceOf(origin.summary.id).name ?? originName)
  return {
    live: liveOf(row, options),
    name,
    starred,
    counts: options.countsOf(id),
    copiedFrom:
      copied === undefined || origin === undefined ? copied : { ...copied, here: true, name: called },
    originName,
  }
}

/** Processes of this machine hold sessions of this machine. */
function liveOf({ from, summary }: Row, options: CatalogueOptions): LiveState | undefined {
  if (from.isMirror === true) return options.liveElsewhere?.(summary.id)
  return from.isArchive ? undefined : options.liveOf(summary.id)
}

/** Whether nothing was said in it that is not in another session that is shown, which it was copied from. */
export function isCopy(row: Row, rows: Rows, options: CatalogueOptions): boolean {
  const { copiedFrom } = row.summary
  if ((options.copyOf?.(row.summary.id) ?? copiedFrom) === undefined) return false
  const toCopy = (one: Row): SessionSummary => ({ ...one.summary, ...factsOf(one, rows, options) })
  return isMereCopy(toCopy(row), (id) => {
    const origin = findRow(rows, id)
    return origin && toCopy(origin)
  })
}

/** Those of these sessions that are not shown because of that. */
export function copiesOf(
  hidden: Iterable<Row>,
  rows: Rows,
  options: CatalogueOptions,
): readonly SessionSummary[] {
  return [...hidden].flatMap((row) =>
    row.isAllowed && isCopy(row, rows, options) ? [toShown(row, factsOf(row, rows, options))] : [],
  )
}

function findRow(rows: Rows, id: string): Row | undefined {
  for (const row of rows.ofId(id)) if (row.isAllowed) return row
  return undefined
}
