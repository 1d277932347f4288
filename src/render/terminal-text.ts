import { displayWidth } from './display-width.ts'
import { parseInline, type Inline } from './inline.ts'
import { closesFence, readFence, readTableCells, unescapePipes } from './markdown-tree.ts'
import type { Paint, Style } from './paint.ts'
import { chopLine, wrapRuns, type Run } from './wrap.ts'

/**
 * Words for a terminal, as lines of at most `width` columns. With colours, Markdown's marks turn into styles;
 * without, they stay as they were written. Code is broken only where it has to be.
 */
export function toTextLines(
  text: string,
  options: {
    readonly width: number
    readonly paint: Paint
    readonly colour: boolean
    readonly style?: Style
  },
): readonly string[] {
  const { width, paint, colour } = options
  const out: string[] = []
  const lines = text.replaceAll('\t', '    ').trimEnd().split('\n')
  let fence: string | undefined
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (fence !== undefined) {
      const closes = closesFence(line, fence)
      if (closes) fence = undefined
      for (const part of chopLine(line, width)) out.push(paint(closes ? 'dim' : 'code', part))
      continue
    }
    fence = readFence(line)?.mark
    const table = fence === undefined ? alignTable(lines, at, options) : undefined
    if (fence !== undefined) out.push(...chopLine(line, width).map((part) => paint('dim', part)))
    else if (table !== undefined) {
      out.push(...table.map(show))
      at += table.length - 1
    } else for (const runs of wrapRuns(runsOf(line, colour), width, hangOf(line))) out.push(show(runs))
  }
  return out

  function show(runs: readonly Run[]): string {
    return runs
      .map((run) => {
        const style = run.style ?? options.style
        return style === undefined ? run.text : paint(style, run.text)
      })
      .join('')
  }
}

/** A table that fits, with its columns under each other. */
function alignTable(
  lines: readonly string[],
  at: number,
  options: { readonly width: number; readonly colour: boolean },
): readonly (readonly Run[])[] | undefined {
  const rule = readCells(lines[at + 1] ?? '')
  const head = readCells(lines[at] ?? '', rule?.length)
  if (head === undefined || rule?.every((cell) => /^:?-+:?$/.test(cell)) !== true) return undefined
  const rows: (readonly (readonly Run[])[])[] = []
  for (let next = at; next < lines.length; next++) {
    const cells = readCells(lines[next] ?? '', head.length)
    if (cells === undefined) break
    if (cells.length !== head.length) return undefined
    rows.push(
      cells.map((cell) => (options.colour ? toRuns(parseInline(unescapePipes(cell))) : [{ text: cell }])),
    )
  }
  const widths = head.map((_cell, column) =>
    Math.max(...rows.map((row, index) => (index === 1 ? 3 : runsWidth(row[column] ?? [])))),
  )
  if (widths.reduce((sum, width) => sum + width + 3, 1) > options.width) return undefined
  return rows.map((row, index) => {
    const cells = row.flatMap((cell, column): readonly Run[] => {
      const width = widths[column] ?? 0
      if (index === 1) return [{ text: `${'-'.repeat(width)} | `, style: 'dim' }]
      const styled: readonly Run[] = index === 0 ? cell.map((run) => ({ style: 'strong', ...run })) : cell
      return [...styled, { text: ' '.repeat(width - runsWidth(cell)) }, { text: ' | ', style: 'dim' }]
    })
    const last = cells.at(-1)
    return [
      { text: '| ', style: 'dim' },
      ...cells.slice(0, -1),
      { ...last, text: last?.text.trimEnd() ?? '' },
    ]
  })
}

function readCells(line: string, columns?: number): readonly string[] | undefined {
  const body = line.trim()
  return body.startsWith('|') && body.endsWith('|') ? readTableCells(body, columns) : undefined
}

function runsWidth(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + displayWidth(run.text), 0)
}

function runsOf(line: string, colour: boolean): readonly Run[] {
  if (!colour) return [{ text: line }]
  const heading = /^ {0,3}#{1,6} +/.exec(line)?.[0]
  if (heading !== undefined) return [{ text: line.slice(heading.length), style: 'heading' }]
  const lead = /^ *(?:[-*+] +|\d{1,9}[.)] +|> *)?/.exec(line)?.[0] ?? ''
  const bullet = lead.replace(/[-*+] /, '• ')
  return [...(lead === '' ? [] : [{ text: bullet }]), ...toRuns(parseInline(line.slice(lead.length)))]
}

/** Where the further lines of a list item begin. */
function hangOf(line: string): number {
  const lead = /^ *(?:[-*+] +|\d{1,9}[.)] +|> *)?/.exec(line)?.[0] ?? ''
  return Math.min(lead.length, 12)
}

function toRuns(nodes: readonly Inline[], style?: Style): readonly Run[] {
  return nodes.flatMap((node): readonly Run[] => {
    switch (node.kind) {
      case 'text':
        return [style === undefined ? { text: node.text } : { text: node.text, style }]
      case 'code':
        return [{ text: node.text, style: 'code' }]
      case 'strong':
        return toRuns(node.content, 'strong')
      case 'emphasis':
      case 'deleted':
        return toRuns(node.content, style ?? 'emphasis')
      case 'link': {
        const label = toRuns(node.content, style)
        // The address is shown: a label may lie about it.
        const says = label.map((run) => run.text).join('')
        return says === node.href ? label : [...label, { text: ` (${node.href})`, style: 'dim' }]
      }
    }
  })
}
