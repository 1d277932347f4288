import { displayWidth, fitToWidth, type Paint, type Style } from '#render'

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** Shares what room is left, in this proportion. A column without it takes what it needs. */
  readonly share?: number
}

export interface Cell {
  readonly text: string
  readonly style?: Style
}

const GAP = 2
const NARROWEST = 8

/** Rows in columns, cut so that every line fits into `width`. The cells' text is safe already. */
export function toTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: { readonly width: number; readonly paint: Paint },
): string {
  const { paint } = options
  const widths = toWidths(columns, rows, options.width)
  const line = (cells: readonly Cell[]): string =>
    columns
      .map(({ align }, at) => {
        const { text, style } = cells[at] ?? { text: '' }
        const fitted = fitToWidth(text, widths[at] ?? 0, align)
        return style === undefined ? fitted : paint(style, fitted)
      })
      .join(' '.repeat(GAP))
  const title = line(columns.map((column) => ({ text: column.title, style: 'dim' })))
  return [title, ...rows.map(line)].map((text) => `${text.trimEnd()}\n`).join('')
}

function toWidths(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number,
): readonly number[] {
  const needs = columns.map(({ title }, at) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[at]?.text ?? ''))),
  )
  const fixed = columns.reduce((sum, { share }, at) => sum + (share === undefined ? (needs[at] ?? 0) : 0), 0)
  let room = width - fixed - GAP * (columns.length - 1)
  let shares = columns.reduce((sum, { share }) => sum + (share ?? 0), 0)
  const widths = [...needs]
  // The columns that need least come first: what they leave, the others may have.
  const flexible = columns
    .map((column, at) => ({ at, share: column.share ?? 0, need: needs[at] ?? 0 }))
    .filter(({ share }) => share > 0)
    .toSorted((a, b) => a.need / a.share - b.need / b.share)
  for (const { at, share, need } of flexible) {
    const given = Math.max(NARROWEST, Math.min(need, Math.floor((room * share) / shares)))
    widths[at] = given
    room -= given
    shares -= share
  }
  return widths
}
