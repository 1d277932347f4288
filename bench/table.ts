/** One comparison. `met` is decided where the figures are; here they are only laid out. */
export interface Row {
  readonly name: string
  readonly ours: string
  /** The peer or the limit, and what it took. */
  readonly against: string
  readonly ratio: string
  readonly target: string
  readonly met: 'yes' | 'NO' | 'n/a' | 'info'
  readonly note?: string
}

const HEADINGS = ['row', 'ours', 'peer / limit', 'ratio', 'target', 'met?', 'note'] as const

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.name,
    row.ours,
    row.against,
    row.ratio,
    row.target,
    row.met,
    row.note ?? '',
  ])
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...cells.map((line) => line[column]?.length ?? 0)),
  )
  const layOut = (line: readonly string[]): string =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width))
  return [layOut(HEADINGS), layOut(rule), ...cells.map(layOut)].join('\n')
}

export function ms(value: number): string {
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`
}

export function mb(bytes: number): string {
  const value = bytes / 1e6
  return `${value.toFixed(value < 10 ? 2 : 0)} MB`
}

export function times(value: number): string {
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(value < 10 ? 2 : 1)}x`
}
