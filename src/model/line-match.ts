/** Which lines of two texts have no counterpart in the other, by their index. All others match pairwise, in order. */
export interface LineMatch {
  readonly removed: Uint8Array
  readonly added: Uint8Array
  /** Comparisons made: bounded by the number of lines times `MOST_EDITS`. */
  readonly steps: number
}

/**
 * A box is searched for the shortest way through it up to this many edits from either corner. Where even that does not
 * meet, it is split where the search came furthest: the result is still a correct diff, if not the shortest.
 */
const MOST_EDITS = 512

/**
 * Aligns two lists of lines: Myers' search from both ends in linear space. Lines that only one side has cannot match
 * and take no part in it, so a text that was written anew costs one pass.
 */
export function matchLines(old: readonly string[], fresh: readonly string[]): LineMatch {
  const { left, right } = toNumbers(old, fresh)
  const removed = new Uint8Array(old.length)
  const added = new Uint8Array(fresh.length)
  const xs = keepShared(left, right, removed)
  const ys = keepShared(right, left, added)
  const search = createSearch(xs.numbers, ys.numbers)
  const boxes: Box[] = [{ x: 0, toX: xs.numbers.length, y: 0, toY: ys.numbers.length }]
  for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
    const inner = search.trim(box)
    if (inner.x === inner.toX || inner.y === inner.toY) {
      for (let x = inner.x; x < inner.toX; x++) removed[xs.indexes[x] ?? 0] = 1
      for (let y = inner.y; y < inner.toY; y++) added[ys.indexes[y] ?? 0] = 1
    } else {
      const { x, y } = search.split(inner)
      boxes.push({ ...inner, x, y }, { ...inner, toX: x, toY: y })
    }
  }
  return { removed, added, steps: search.steps() }
}

/** A part of both lists. */
interface Box {
  readonly x: number
  readonly toX: number
  readonly y: number
  readonly toY: number
}

/** The same number for the same line: numbers are compared faster than lines. */
function toNumbers(
  old: readonly string[],
  fresh: readonly string[],
): { readonly left: Uint32Array; readonly right: Uint32Array } {
  const numbers = new Map<string, number>()
  const toNumber = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size
    numbers.set(line, known)
    return known
  }
  return { left: Uint32Array.from(old, toNumber), right: Uint32Array.from(fresh, toNumber) }
}

/** The lines that the other side has too, and where they are. The rest is marked. */
function keepShared(
  own: Uint32Array,
  other: Uint32Array,
  marks: Uint8Array,
): { readonly numbers: Uint32Array; readonly indexes: Uint32Array } {
  const shared = new Set(other)
  const indexes = new Uint32Array(own.length)
  let length = 0
  for (const [index, number] of own.entries()) {
    if (shared.has(number)) indexes[length++] = index
    else marks[index] = 1
  }
  const kept = indexes.subarray(0, length)
  return { numbers: kept.map((index) => own[index] ?? 0), indexes: kept }
}

interface Search {
  /** Without what both sides begin and end with. */
  trim(box: Box): Box
  /** A point on a shortest way through a box, or where the search came furthest. Neither side of it is empty. */
  split(box: Box): { readonly x: number; readonly y: number }
  steps(): number
}

function createSearch(xs: Uint32Array, ys: Uint32Array): Search {
  // One cell for each diagonal x - y, and one more at either end.
  const shift = ys.length + 1
  const forward = new Int32Array(xs.length + ys.length + 3)
  const backward = new Int32Array(xs.length + ys.length + 3)
  let steps = 0

  function trim({ x, toX, y, toY }: Box): Box {
    while (x < toX && y < toY && xs[x] === ys[y]) {
      x++
      y++
    }
    while (x < toX && y < toY && xs[toX - 1] === ys[toY - 1]) {
      toX--
      toY--
    }
    return { x, toX, y, toY }
  }

  /** Each diagonal goes one edit further from the beginning of the box; the one that meets the other search, if any. */
  function goForward(box: Box, own: Reach, other: Reach, doesMeet: boolean): number | undefined {
    widen(box, own, forward, -1)
    for (let d = own.high; d >= own.low; d -= 2) {
      const below = forward[shift + d - 1] ?? -1
      const above = forward[shift + d + 1] ?? -1
      let x = below < above ? above : below + 1
      const from = x
      while (x < box.toX && x - d < box.toY && xs[x] === ys[x - d]) x++
      steps += 1 + x - from
      forward[shift + d] = x
      if (doesMeet && d >= other.low && d <= other.high && (backward[shift + d] ?? 0) <= x) return d
    }
    return undefined
  }

  function goBackward(box: Box, own: Reach, other: Reach, doesMeet: boolean): number | undefined {
    widen(box, own, backward, FAR)
    for (let d = own.high; d >= own.low; d -= 2) {
      const below = backward[shift + d - 1] ?? FAR
      const above = backward[shift + d + 1] ?? FAR
      let x = below < above ? below : above - 1
      const from = x
      while (x > box.x && x - d > box.y && xs[x - 1] === ys[x - d - 1]) x--
      steps += 1 + from - x
      backward[shift + d] = x
      if (doesMeet && d >= other.low && d <= other.high && x <= (forward[shift + d] ?? 0)) return d
    }
    return undefined
  }

  function widen(box: Box, reach: Reach, cells: Int32Array, none: number): void {
    if (reach.low > box.x - box.toY) cells[shift + --reach.low - 1] = none
    else reach.low++
    if (reach.high < box.toX - box.y) cells[shift + ++reach.high + 1] = none
    else reach.high--
  }

  function split(box: Box): { readonly x: number; readonly y: number } {
    const begin = box.x - box.y
    const end = box.toX - box.toY
    const isOdd = ((begin - end) & 1) !== 0
    const there: Reach = { low: begin, high: begin }
    const back: Reach = { low: end, high: end }
    forward[shift + begin] = box.x
    backward[shift + end] = box.toX
    for (let edits = 1; edits <= MOST_EDITS; edits++) {
      const ahead = goForward(box, there, back, isOdd)
      if (ahead !== undefined) return pointOf(forward[shift + ahead], ahead)
      const behind = goBackward(box, back, there, !isOdd)
      if (behind !== undefined) return pointOf(backward[shift + behind], behind)
    }
    return furthest(box, there, back)
  }

  function furthest(box: Box, there: Reach, back: Reach): { readonly x: number; readonly y: number } {
    let best = { x: box.x, y: box.y }
    for (let d = there.high; d >= there.low; d -= 2) {
      const x = Math.min(forward[shift + d] ?? 0, box.toX, box.toY + d)
      if (x + x - d > best.x + best.y) best = { x, y: x - d }
    }
    let last = { x: box.toX, y: box.toY }
    for (let d = back.high; d >= back.low; d -= 2) {
      const x = Math.max(backward[shift + d] ?? 0, box.x, box.y + d)
      if (x + x - d < last.x + last.y) last = { x, y: x - d }
    }
    return best.x + best.y - box.x - box.y > box.toX + box.toY - last.x - last.y ? best : last
  }

  return { trim, split, steps: () => steps }
}

const FAR = 0x7fffffff

/** The diagonals that a search has come to. */
interface Reach {
  low: number
  high: number
}

function pointOf(x = 0, d: number): { readonly x: number; readonly y: number } {
  return { x, y: x - d }
}
