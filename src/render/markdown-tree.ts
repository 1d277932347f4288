import { parseInline, type Inline } from './inline.ts'

/** A part of a Markdown text. There is no raw HTML: a `<` is a character like any other. */
export type MarkdownBlock =
  | { readonly kind: 'paragraph'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: 'heading'; readonly level: number; readonly content: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly content: readonly MarkdownBlock[] }
  | { readonly kind: 'list'; readonly start?: number; readonly items: readonly (readonly MarkdownBlock[])[] }
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
  return { block: { kind: 'list', start: first.number, items }, next }
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
  const head = cellsOf(lines[at] ?? '')
  const rule = cellsOf(lines[at + 1] ?? '')
  if (head === undefined || rule === undefined || head.length !== rule.length) return undefined
  if (!rule.every((cell) => /^:?-+:?$/.test(cell))) return undefined
  const rows: (readonly Cell[])[] = []
  let next = at + 2
  for (; next < lines.length; next++) {
    const row = cellsOf(lines[next] ?? '')
    if (row === undefined) break
    rows.push(head.map((_cell, column) => parseInline(row[column] ?? '')))
  }
  return { block: { kind: 'table', head: head.map((cell) => parseInline(cell)), rows }, next }
}

function cellsOf(line: string): readonly string[] | undefined {
  if (!line.includes('|')) return undefined
  const cells = line.trim().replace(/^\|/, '').replace(/\|$/, '').split('|')
  return cells.map((cell) => cell.trim())
}
