import { matchLines } from './line-match.ts'

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** How one text became another, line by line. */
export function toLineDiff(before: string, after: string): readonly DiffLine[] {
  const { head, old, fresh, tail } = toParts(before, after)
  return [...asLines('same', head), ...toMiddle(old, fresh), ...asLines('same', tail)]
}

/** What both have at the beginning and at the end, and what each has between. */
function toParts(
  before: string,
  after: string,
): Readonly<Record<'head' | 'old' | 'fresh' | 'tail', readonly string[]>> {
  const old = linesOf(before)
  const fresh = linesOf(after)
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  while (
    tail < old.length - head &&
    tail < fresh.length - head &&
    old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]
  ) {
    tail++
  }
  return {
    head: old.slice(0, head),
    old: old.slice(head, old.length - tail),
    fresh: fresh.slice(head, fresh.length - tail),
    tail: old.slice(old.length - tail),
  }
}

/** How many lines a diff adds and removes. */
export function countDiff(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  let added = 0
  let removed = 0
  for (const { kind } of lines) {
    if (kind === 'added') added++
    else if (kind === 'removed') removed++
  }
  return { added, removed }
}

/** The same figures as those of the diff, without making it: for many changes at once. */
export function countLineDiff(
  before: string,
  after: string,
): { readonly added: number; readonly removed: number } {
  const { old, fresh } = toParts(before, after)
  const { added, removed } = matchLines(old, fresh)
  return { added: countMarks(added), removed: countMarks(removed) }
}

function countMarks(marks: Uint8Array): number {
  return marks.reduce((sum, mark) => sum + mark, 0)
}

function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function asLines(kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((text) => ({ kind, text }))
}

/** What went stands before what came in its place. */
function toMiddle(old: readonly string[], fresh: readonly string[]): readonly DiffLine[] {
  const { removed, added } = matchLines(old, fresh)
  const out: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < fresh.length) {
    if (added[column] !== 1) slideDown(old, removed, row)
    if (removed[row] !== 1) slideDown(fresh, added, column)
    const [left, right] = [old[row], fresh[column]]
    if (left !== undefined && removed[row] === 1) {
      out.push({ kind: 'removed', text: left })
      row++
    } else if (right !== undefined && added[column] === 1) {
      out.push({ kind: 'added', text: right })
      column++
    } else {
      out.push({ kind: 'same', text: left ?? '' })
      row++
      column++
    }
  }
  return out
}

/**
 * Of equal lines around a change, the last are the changed ones: a function that was added ends with its own brace,
 * not with that of the function before it. `from` is where the change begins.
 */
function slideDown(lines: readonly string[], marks: Uint8Array, from: number): void {
  if (marks[from] !== 1 || marks[from - 1] === 1) return
  let end = from
  while (marks[end] === 1) end++
  for (let start = from; end < lines.length && lines[start] === lines[end]; start++) {
    marks[start] = 0
    marks[end] = 1
    while (marks[end] === 1) end++
  }
}
