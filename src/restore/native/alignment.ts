/** Something with a meaning: equal keys mean the same. */
export interface Keyed {
  readonly key: string
}

/** A place in one, and the place of the same in the other. */
export type Pair = readonly [number, number]

/**
 * What both have in the same order, as pairs of places. Things that occur once in each are found first, and what is
 * between two of them is compared on its own: sessions are long, and nearly everything in them is said once.
 */
export function align(source: readonly Keyed[], copy: readonly Keyed[]): readonly Pair[] {
  const pairs: Pair[] = []
  const work: (readonly [Stretch, Stretch])[] = [
    [
      { from: 0, to: source.length },
      { from: 0, to: copy.length },
    ],
  ]
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [one, other] = trimmed(next, { source, copy, pairs })
    if (one.from === one.to || other.from === other.to) continue
    const anchors = findAnchors({ source, copy }, [one, other])
    if (anchors.length === 0) {
      pairs.push(...toCommon({ source, copy }, [one, other]))
      continue
    }
    let [at, from] = [one.from, other.from]
    for (const [place, same] of [...anchors, [one.to, other.to] as const]) {
      work.push([
        { from: at, to: place },
        { from, to: same },
      ])
      if (place < one.to) pairs.push([place, same])
      at = place + 1
      from = same + 1
    }
  }
  return pairs.toSorted(([a], [b]) => a - b)
}

interface Stretch {
  readonly from: number
  readonly to: number
}

interface Both {
  readonly source: readonly Keyed[]
  readonly copy: readonly Keyed[]
}

/** Without what both begin and end with, which are pairs. */
function trimmed(
  [one, other]: readonly [Stretch, Stretch],
  { source, copy, pairs }: Both & { readonly pairs: Pair[] },
): readonly [Stretch, Stretch] {
  let [at, from, to, until] = [one.from, other.from, one.to, other.to]
  while (at < to && from < until && source[at]?.key === copy[from]?.key) pairs.push([at++, from++])
  while (to > at && until > from && source[to - 1]?.key === copy[until - 1]?.key) pairs.push([--to, --until])
  return [
    { from: at, to },
    { from, to: until },
  ]
}

/** Things that occur once in each of two stretches, as many as stand in the same order in both. */
function findAnchors({ source, copy }: Both, [one, other]: readonly [Stretch, Stretch]): readonly Pair[] {
  const there = findOnce(copy, other)
  const once = [...findOnce(source, one)].flatMap(([key, at]): readonly Pair[] => {
    const same = there.get(key)
    return same === undefined ? [] : [[at, same]]
  })
  // The longest rising run of places in the copy: its ends by length, and before each the one that it goes on from.
  const ends: Pair[] = []
  const before = new Map<Pair, Pair | undefined>()
  for (const pair of once) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.[1] ?? 0) < pair[1]) low = middle + 1
      else high = middle
    }
    before.set(pair, ends[low - 1])
    ends[low] = pair
  }
  const run: Pair[] = []
  for (let pair = ends.at(-1); pair !== undefined; pair = before.get(pair)) run.push(pair)
  return run.toReversed()
}

/** In the order of their places. */
function findOnce(things: readonly Keyed[], { from, to }: Stretch): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  for (let at = from; at < to; at++) {
    const key = things[at]?.key ?? ''
    places.set(key, places.has(key) ? -1 : at)
  }
  return new Map([...places].filter(([, at]) => at >= 0))
}

/** Above this many cells what is not there once is not looked for: what is told then is more than there is. */
const LARGEST_TABLE = 4_000_000

/** The longest common subsequence of two stretches. */
function toCommon({ source, copy }: Both, [one, other]: readonly [Stretch, Stretch]): readonly Pair[] {
  const width = other.to - other.from + 1
  const height = one.to - one.from + 1
  if (width * height > LARGEST_TABLE) return []
  const lengths = new Uint32Array(width * height)
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0
  const isSame = (row: number, column: number): boolean =>
    source[one.from + row]?.key === copy[other.from + column]?.key
  for (let row = height - 2; row >= 0; row--)
    for (let column = width - 2; column >= 0; column--)
      lengths[row * width + column] = isSame(row, column)
        ? lengthAt(row + 1, column + 1) + 1
        : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1))
  const pairs: Pair[] = []
  let [row, column] = [0, 0]
  while (row < height - 1 && column < width - 1) {
    if (isSame(row, column)) pairs.push([one.from + row++, other.from + column++])
    else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row++
    else column++
  }
  return pairs
}
