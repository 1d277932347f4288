import { string } from '#base'
import { textOf, type DiffLine, type ToolCall } from '#model'

/** A line of a diff as it is shown. */
export interface DiffRow extends DiffLine {
  /** The line's number before and after the change, where it is known. */
  readonly before?: number
  readonly after?: number
  /** Where the part begins and ends that differs from the line it replaced, or that replaced it. */
  readonly changed?: readonly [from: number, to: number]
}

/** Rows that are shown, or unchanged ones that are folded away. */
export interface DiffStretch {
  readonly folded: boolean
  readonly rows: readonly DiffRow[]
}

const CONTEXT = 3

/** Numbers the lines, counting from `start` where it is known, and finds what changed inside of a line. */
export function toDiffRows(lines: readonly DiffLine[], start: number | undefined): readonly DiffRow[] {
  const changes = findChanges(lines)
  let before = start ?? Number.NaN
  let after = start ?? Number.NaN
  return lines.map((line, index) => {
    const changed = changes.get(index)
    const row: DiffRow = {
      ...line,
      ...(line.kind === 'added' || start === undefined ? {} : { before }),
      ...(line.kind === 'removed' || start === undefined ? {} : { after }),
      ...(changed === undefined ? {} : { changed }),
    }
    if (line.kind !== 'added') before++
    if (line.kind !== 'removed') after++
    return row
  })
}

/** Folds unchanged lines that are far from any change. Every row is in exactly one stretch, in order. */
export function foldContext(rows: readonly DiffRow[]): readonly DiffStretch[] {
  const near = new Uint8Array(rows.length)
  for (const [index, row] of rows.entries()) {
    if (row.kind === 'same') continue
    near.fill(1, Math.max(0, index - CONTEXT), Math.min(rows.length, index + CONTEXT + 1))
  }
  const out: { folded: boolean; rows: DiffRow[] }[] = []
  for (const [index, row] of rows.entries()) {
    const folded = near[index] === 0
    const last = out.at(-1)
    if (last?.folded === folded) last.rows.push(row)
    else out.push({ folded, rows: [row] })
  }
  // A fold over one or two lines takes as much room as the lines.
  return out.map((stretch) => (stretch.rows.length <= 2 ? { ...stretch, folded: false } : stretch))
}

/** The beginning of a diff: as many rows, a fold counting as one. The same list when that is all of it. */
export function takeRows(stretches: readonly DiffStretch[], most: number): readonly DiffStretch[] {
  const out: DiffStretch[] = []
  let left = most
  for (const stretch of stretches) {
    const rows = stretch.folded ? stretch.rows : stretch.rows.slice(0, left)
    out.push({ ...stretch, rows })
    left -= stretch.folded ? 1 : rows.length
    if (rows.length < stretch.rows.length || (left <= 0 && out.length < stretches.length)) return out
  }
  return stretches
}

/**
 * The number of a diff's first line. A file that is written begins with 1; of an edit some clients show the lines
 * around it, numbered. Otherwise nobody knows, and no number is better than a wrong one.
 */
export function findFirstLine(call: ToolCall, lines: readonly DiffLine[]): number | undefined {
  if (call.use.name === 'Write') return 1
  const fresh = string(call.use.input, 'new_string')
  const first = lines[0]
  if (fresh === undefined || first === undefined || call.state !== 'done') return undefined
  const wanted = lines.find((line) => line.kind !== 'removed' && line.text.trim() !== '')
  const answer = textOf(call.result?.content ?? []).slice(0, 100_000)
  if (wanted === undefined) return undefined
  const index = lines.filter((line) => line.kind !== 'removed').indexOf(wanted)
  for (const shown of answer.matchAll(/^ {0,8}(\d{1,7})(?:→|\t)(.*)$/gm)) {
    if (shown[2] === wanted.text) return Math.max(1, Number(shown[1]) - index)
  }
  return undefined
}

/** Of as many lines removed as added, each is compared with its counterpart. */
function findChanges(lines: readonly DiffLine[]): ReadonlyMap<number, readonly [number, number]> {
  const out = new Map<number, readonly [number, number]>()
  let at = 0
  while (at < lines.length) {
    const removed = runLength(lines, at, 'removed')
    const added = runLength(lines, at + removed, 'added')
    if (removed === added) {
      for (let row = at; row < at + removed; row++)
        compareLines(lines[row]?.text ?? '', lines[row + removed]?.text ?? '', (old, fresh) => {
          out.set(row, old)
          out.set(row + removed, fresh)
        })
    }
    at += Math.max(1, removed + added)
  }
  return out
}

function runLength(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let length = 0
  while (lines[from + length]?.kind === kind) length++
  return length
}

function compareLines(
  old: string,
  fresh: string,
  tell: (old: readonly [number, number], fresh: readonly [number, number]) => void,
): void {
  const most = Math.min(old.length, fresh.length)
  let head = 0
  while (head < most && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < most - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++
  // Lines that share little are different lines.
  if (head + tail < Math.max(old.trim().length, fresh.trim().length) * 0.4) return
  tell([head, old.length - tail], [head, fresh.length - tail])
}
