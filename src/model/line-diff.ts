export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Above this many cells the middle is shown as all removed, then all added: true, if not the shortest. */
const LARGEST_TABLE = 250_000

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
  const common = (old.length + 1) * (fresh.length + 1) > LARGEST_TABLE ? 0 : commonLength(old, fresh)
  return { added: fresh.length - common, removed: old.length - common }
}

/** The length of the longest common subsequence. Numbers are compared faster than lines, and two rows are enough. */
function commonLength(old: readonly string[], fresh: readonly string[]): number {
  if (old.length === 0 || fresh.length === 0) return 0
  const numbers = new Map<string, number>()
  const toNumber = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size
    numbers.set(line, known)
    return known
  }
  const columns = Uint32Array.from(fresh, toNumber)
  let below = new Uint32Array(columns.length + 1)
  let row = new Uint32Array(columns.length + 1)
  for (const line of Uint32Array.from(old, toNumber)) {
    for (let column = 0; column < columns.length; column++) {
      const left = row[column] ?? 0
      const above = below[column + 1] ?? 0
      row[column + 1] = columns[column] === line ? (below[column] ?? 0) + 1 : left > above ? left : above
    }
    ;[below, row] = [row, below]
  }
  return below[columns.length] ?? 0
}

function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function asLines(kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((text) => ({ kind, text }))
}

/** The longest common subsequence, by the table of its lengths. */
function toMiddle(old: readonly string[], fresh: readonly string[]): readonly DiffLine[] {
  const columns = fresh.length + 1
  if ((old.length + 1) * columns > LARGEST_TABLE) {
    return [...asLines('removed', old), ...asLines('added', fresh)]
  }
  const lengths = new Uint32Array((old.length + 1) * columns)
  const at = (row: number, column: number): number => lengths[row * columns + column] ?? 0
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = fresh.length - 1; column >= 0; column--) {
      lengths[row * columns + column] =
        old[row] === fresh[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const out: DiffLine[] = []
  let row = 0
  let column = 0
  while (row < old.length || column < fresh.length) {
    const left = old[row]
    const right = fresh[column]
    if (left !== undefined && left === right) {
      out.push({ kind: 'same', text: left })
      row++
      column++
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      out.push({ kind: 'removed', text: left })
      row++
    } else {
      out.push({ kind: 'added', text: right ?? '' })
      column++
    }
  }
  return out
}
