import { parseInline, type Inline } from './inline.ts'

/** A part of a Markdown text. There is no raw HTML: a `<` is a character like any other. */
export type MarkdownBlock =
  | { readonly kind: 'paragraph'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: 'heading'; readonly level: number; readonly content: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly content: readonly MarkdownBlock[] }
  | {
      readonly kind: 'list'
      readonly start?: number
      readonly items: readonly (readonly MarkdownBlock[])[]
      /** What the items are numbered, where they do not count up by one from `start`. */
      readonly numbers?: readonly number[]
    }
  | { readonly kind: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'rule' }

type Cell = readonly Inline[]

/** Lists and quotes inside each other: deeper ones are shown as text. */
const DEEPEST = 8

/** Reads the Markdown that agents write. Linear in the length of the text; never throws. */
export function parseMarkdown(text: string): readonly MarkdownBlock[] {
  return parseLines(text.split('\n'), 0)
}

/** The opening line of a code block, with the line that closes it. */
export function readFence(line: string): { readonly mark: string; readonly language: string } | undefined {
  const indent = line.search(/[^ ]/)
  if (indent < 0 || indent > 3) return undefined
  const body = line.slice(indent)
  const mark = /^(?:`{3,}|~{3,})/.exec(body)?.[0]
  if (mark === undefined) return undefined
  const info = body.slice(mark.length)
  return mark.startsWith('`') && info.includes('`') ? undefined : { mark, language: info.trim() }
}

/** Whether this line ends the code block that began with `mark`. */
export function closesFence(line: string, mark: string): boolean {
  const body = line.trim()
  return body.length >= mark.length && body === mark.charAt(0).repeat(body.length) && line.search(/[^ ]/) <= 3
}

function parseLines(lines: readonly string[], depth: number): readonly MarkdownBlock[] {
  const out: MarkdownBlock[] = []
  let paragraph: string[] = []
  let at = 0
  const flush = (): void => {
    if (paragraph.length > 0)
      out.push({ kind: 'paragraph', lines: paragraph.map((line) => parseInline(line.trim())) })
    paragraph = []
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    if (line.trim() === '') {
      flush()
      at++
      continue
    }
    const found = readBlock(lines, at, depth, paragraph.length > 0)
    if (found === undefined) {
      paragraph.push(line)
      at++
    } else {
      flush()
      out.push(found.block)
      at = found.next
    }
  }
  flush()
  return out
}

interface Found {
  readonly block: MarkdownBlock
  /** The first line after it. */
  readonly next: number
}

function readBlock(
  lines: readonly string[],
  at: number,
  depth: number,
  inParagraph: boolean,
): Found | undefined {
  const line = lines[at] ?? ''
  return (
    readCode(lines, at) ??
    readHeading(line, at) ??
    readRule(line, at) ??
    (depth < DEEPEST
      ? (readQuote(lines, at, depth) ?? readList(lines, at, depth, inParagraph))
      : undefined) ??
    (inParagraph ? undefined : readTable(lines, at))
  )
}

function readCode(lines: readonly string[], at: number): Found | undefined {
  const fence = readFence(lines[at] ?? '')
  if (fence === undefined) return undefined
  let end = at + 1
  while (end < lines.length && !closesFence(lines[end] ?? '', fence.mark)) end++
  const text = lines.slice(at + 1, end).join('\n')
  return { block: { kind: 'code', language: fence.language, text }, next: end + 1 }
}

function readHeading(line: string, at: number): Found | undefined {
  const level = /^ {0,3}(#{1,6})(?= |$)/.exec(line)?.[1]?.length
  if (level === undefined) return undefined
  const content = parseInline(line.trim().slice(level).trim())
  return { block: { kind: 'heading', level, content }, next: at + 1 }
}

function readRule(line: string, at: number): Found | undefined {
  const marks = line.replaceAll(' ', '')
  const isRule =
    marks.length >= 3 && '-*_'.includes(marks.charAt(0)) && marks === marks.charAt(0).repeat(marks.length)
  return isRule ? { block: { kind: 'rule' }, next: at + 1 } : undefined
}

function readQuote(lines: readonly string[], at: number, depth: number): Found | undefined {
  const inner: string[] = []
  let next = at
  for (; next < lines.length; next++) {
    const quoted = /^ {0,3}> ?/.exec(lines[next] ?? '')?.[0]
    if (quoted === undefined) break
    inner.push((lines[next] ?? '').slice(quoted.length))
  }
  return next === at ? undefined : { block: { kind: 'quote', content: parseLines(inner, depth + 1) }, next }
}

function readList(
  lines: readonly string[],
  at: number,
  depth: number,
  inParagraph: boolean,
): Found | undefined {
  const first = readMarker(lines[at] ?? '')
  // A line that wraps at "2024." or "-" is no list, unless it could not be anything else.
  if (first === undefined || (inParagraph && first.ordered && first.number !== 1)) return undefined
  const items: (readonly MarkdownBlock[])[] = []
  const numbers: number[] = []
  let item: string[] | undefined
  let next = at
  const flush = (): void => {
    if (item !== undefined) items.push(parseLines(item, depth + 1))
    item = undefined
  }
  for (; next < lines.length; next++) {
    const line = lines[next] ?? ''
    const indent = line.search(/[^ ]/)
    const marker = indent < first.indent + 2 ? readMarker(line) : undefined
    if (marker !== undefined && marker.ordered === first.ordered && readRule(line, next) === undefined) {
      flush()
      item = [line.slice(marker.width)]
      numbers.push(marker.number)
    } else if (indent < 0) {
      // A blank line ends the list unless something indented or another item follows.
      const after = lines[next + 1] ?? ''
      const goesOn = after.search(/[^ ]/) >= first.indent + 2 || readMarker(after)?.ordered === first.ordered
      if (!goesOn) break
      item?.push('')
    } else if (indent >= first.indent + 2) {
      item?.push(line.slice(Math.min(indent, first.width)))
    } else {
      break
    }
  }
  flush()
  if (!first.ordered) return { block: { kind: 'list', items }, next }
  const isCounting = numbers.every((number, nth) => number === first.number + nth)
  // Numbered 1, 1, 1, a list is to be counted by whoever shows it.
  const isSame = numbers.every((number) => number === first.number)
  const own = isCounting || isSame ? {} : { numbers }
  return { block: { kind: 'list', start: first.number, items, ...own }, next }
}

interface Marker {
  readonly ordered: boolean
  readonly number: number
  readonly indent: number
  /** Columns up to the item's text. */
  readonly width: number
}

function readMarker(line: string): Marker | undefined {
  const found = /^( {0,12})(?:([-*+])|(\d{1,9})[.)]) {1,4}(?=[^ ])/.exec(line)
  if (found === null) return undefined
  return {
    ordered: found[3] !== undefined,
    number: Number(found[3] ?? 0),
    indent: found[1]?.length ?? 0,
    width: found[0].length,
  }
}

function readTable(lines: readonly string[], at: number): Found | undefined {
  const rule = readTableCells(lines[at + 1] ?? '')
  if (rule?.every((cell) => /^:?-+:?$/.test(cell)) !== true) return undefined
  const head = readTableCells(lines[at] ?? '', rule.length)
  if (head?.length !== rule.length) return undefined
  const rows: (readonly string[])[] = []
  let next = at + 2
  for (; next < lines.length; next++) {
    const row = readTableCells(lines[next] ?? '', head.length)
    if (row === undefined) break
    rows.push(row)
  }
  // A row may have more cells than the head: every one of them is shown, under a head that is empty.
  const columns = rows.reduce((most, row) => Math.max(most, row.length), head.length)
  const toCells = (cells: readonly string[]): readonly Cell[] =>
    Array.from({ length: columns }, (_none, column) => parseInline(unescapePipes(cells[column] ?? '')))
  return { block: { kind: 'table', head: toCells(head), rows: rows.map(toCells) }, next }
}

/**
 * The cells of a line of a table, as they are written; nothing for a line without one. An escaped pipe belongs to its
 * cell. So does one inside of a code span, unless only its division gives the line as many cells as the table has.
 */
export function readTableCells(line: string, columns?: number): readonly string[] | undefined {
  const cells = splitCells(line, 'outside-code')
  if (cells === undefined || columns === undefined || cells.length === columns) return cells
  const divided = splitCells(line, 'anywhere')
  return divided?.length === columns ? divided : cells
}

function splitCells(line: string, where: 'outside-code' | 'anywhere'): readonly string[] | undefined {
  const body = line.trim()
  const cells: string[] = []
  const first = body.startsWith('|') ? 1 : 0
  let start = first
  for (let at = start; at < body.length; at++) {
    const char = body.charAt(at)
    if (char === '\\') at++
    else if (char === '`' && where === 'outside-code') at = endOfCode(body, at)
    else if (char === '|') {
      cells.push(body.slice(start, at).trim())
      start = at + 1
    }
  }
  if (cells.length === 0 && first === 0) return undefined
  if (start < body.length || cells.length === 0) cells.push(body.slice(start).trim())
  return cells
}

/** The last backtick of the code span that begins here, or of the run of backticks that begins none. */
function endOfCode(text: string, at: number): number {
  let length = 1
  while (text.charAt(at + length) === '`') length++
  const end = text.indexOf('`'.repeat(length), at + length)
  return end < 0 || text.charAt(end + length) === '`' ? at + length - 1 : end + length - 1
}

/** The text of a cell: the backslash in front of a pipe only keeps the pipe in its cell. */
export function unescapePipes(cell: string): string {
  return cell.replaceAll('\\|', '|')
}
