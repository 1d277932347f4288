import { displayWidth, graphemes, graphemeWidth } from './display-width.ts'
import type { Style } from './paint.ts'

/** A stretch of text in one style. */
export interface Run {
  readonly text: string
  readonly style?: Style
}

/**
 * Breaks one paragraph into lines of at most `width` columns, between words where there are words. Lines after the
 * first are moved in by `hang` columns.
 */
export function wrapRuns(runs: readonly Run[], width: number, hang = 0): readonly (readonly Run[])[] {
  const room = Math.max(8, width)
  const lines: Run[][] = [[]]
  let used = 0
  const put = (run: Run, columns: number): void => {
    lines.at(-1)?.push(run)
    used += columns
  }
  const breakLine = (): void => {
    lines.push(hang > 0 ? [{ text: ' '.repeat(hang) }] : [])
    used = hang
  }

  for (const word of words(runs)) {
    const columns = word.reduce((sum, run) => sum + displayWidth(run.text), 0)
    const isSpace = word[0]?.text.trim() === ''
    if (used + columns <= room) {
      for (const run of word) put(run, displayWidth(run.text))
    } else if (isSpace) {
      // The space at which a line breaks is not shown.
      breakLine()
    } else {
      if (used > hang && columns <= room - hang) breakLine()
      for (const run of word) putCharacters(run)
    }
  }
  return lines.map(withoutTrailingSpace)

  function putCharacters(run: Run): void {
    let kept = ''
    for (const grapheme of graphemes(run.text)) {
      const columns = graphemeWidth(grapheme)
      if (used + columns > room) {
        if (kept !== '') lines.at(-1)?.push({ ...run, text: kept })
        kept = ''
        breakLine()
      }
      kept += grapheme
      used += columns
    }
    if (kept !== '') lines.at(-1)?.push({ ...run, text: kept })
  }
}

/** Breaks a line of words into lines of at most `width` columns. */
export function wrapText(text: string, width: number): readonly string[] {
  return wrapRuns([{ text }], width).map((runs) => runs.map((run) => run.text).join(''))
}

/** Breaks a line of code or output at exactly `width` columns: its spaces mean something. */
export function chopLine(line: string, width: number): readonly string[] {
  const room = Math.max(8, width)
  if (line.length <= room && displayWidth(line) <= room) return [line]
  const lines: string[] = []
  let kept = ''
  let used = 0
  for (const grapheme of graphemes(line)) {
    const columns = graphemeWidth(grapheme)
    if (used + columns > room) {
      lines.push(kept)
      kept = ''
      used = 0
    }
    kept += grapheme
    used += columns
  }
  return [...lines, kept]
}

/** Words and the spaces between them; a word may change its style midway. */
function words(runs: readonly Run[]): readonly (readonly Run[])[] {
  const out: Run[][] = []
  let lastWasSpace: boolean | undefined
  for (const run of runs) {
    for (const piece of run.text.split(/( +)/)) {
      if (piece === '') continue
      const isSpace = piece.startsWith(' ')
      const part: Run = { ...run, text: piece }
      if (isSpace === lastWasSpace) out.at(-1)?.push(part)
      else out.push([part])
      lastWasSpace = isSpace
    }
  }
  return out
}

function withoutTrailingSpace(line: readonly Run[]): readonly Run[] {
  const last = line.at(-1)
  if (last === undefined || last.style !== undefined || !last.text.endsWith(' ')) return line
  return [...line.slice(0, -1), { ...last, text: last.text.trimEnd() }]
}
