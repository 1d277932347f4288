import type { TranscriptFile } from '../transcript-file.ts'

/** A stretch of zero bytes that takes no room on the disk. No zero byte stands right before or behind it. */
export interface Hole {
  readonly from: number
  readonly to: number
}

/** Less than this is read like anything else. */
const LARGE_HOLE = 64 * 1024 * 1024
const PIECE = 1024 * 1024
/** File systems count room in blocks of this size or larger. */
const BLOCK = 4096
/** Files of which it is remembered where their holes are. */
const REMEMBERED = 64

interface Known {
  readonly size: number
  readonly modifiedMs: number
  readonly allocated: number
  readonly holes: Hole[]
  /** Resolves when the file was looked at as far as that is cheap. */
  readonly looked: Promise<void>
}

const known = new Map<string, Known>()

/**
 * The hole of a file in which this byte is. Node cannot ask the system where holes are. The one hole of a file is found
 * by reading from both ends until as many bytes were seen as the file has room for: what is between is the hole. When
 * the sums do not agree (there are several holes, the file system compresses or keeps accounts of its own), all is read
 * once, and what was found so is remembered.
 */
export async function findHole(file: TranscriptFile, at: number): Promise<Hole | undefined> {
  const about = knownOf(file)
  if (about === undefined) return undefined
  await about.looked
  return about.holes.find(({ from, to }) => at >= from && at <= to)
}

/** Remembers zero bytes that were found by reading them. */
export function rememberZeros(file: TranscriptFile, from: number, to: number): void {
  if (to - from < LARGE_HOLE) return
  const holes = knownOf(file)?.holes
  if (holes?.some((hole) => hole.from <= from && hole.to >= to) === false) holes.push({ from, to })
}

function knownOf(file: TranscriptFile): Known | undefined {
  const { identity, size, modifiedMs, allocated } = file
  if (allocated === undefined || size < LARGE_HOLE) return undefined
  const before = known.get(identity)
  if (before?.size === size && before.modifiedMs === modifiedMs && before.allocated === allocated)
    return before
  const kept = before === undefined ? [] : stillThere(before, { size, allocated })
  const holes = [...kept]
  const isSparse = size - allocated >= LARGE_HOLE
  const looked = isSparse && kept.length === 0 ? look(file, allocated, holes) : Promise.resolve()
  const about = { size, modifiedMs, allocated, holes, looked }
  known.delete(identity)
  known.set(identity, about)
  for (const oldest of known.keys()) if (known.size > REMEMBERED) known.delete(oldest)
  return about
}

/** What was written since needs the room that came, so none of it is in a hole. */
function stillThere(
  before: Known,
  { size, allocated }: { readonly size: number; readonly allocated: number },
): readonly Hole[] {
  const isSparse = before.size - before.allocated >= LARGE_HOLE
  const isAppended = size >= before.size && allocated - before.allocated <= size - before.size + BLOCK
  return isSparse && isAppended ? before.holes.filter(({ to }) => to < before.size) : []
}

async function look(file: TranscriptFile, allocated: number, holes: Hole[]): Promise<void> {
  const piece = Buffer.allocUnsafe(PIECE)
  let seen = 0
  /** Where the last byte before the hole ends, and the first one behind it begins. */
  let from = 0
  let to = file.size
  for (let at = 0; at < file.size && seen <= allocated; at += PIECE) {
    const count = await file.read(piece, Math.min(PIECE, file.size - at), at)
    const blocks = countBlocks(piece.subarray(0, count))
    if (blocks.count === 0) break
    seen += blocks.count * BLOCK
    from = at + blocks.last
  }
  for (let end = file.size; end > from && seen <= allocated;) {
    // In step with the blocks of the file system.
    const at = Math.max(Math.ceil(from / BLOCK) * BLOCK, Math.floor((end - 1) / PIECE) * PIECE)
    if (at >= end) break
    const count = await file.read(piece, end - at, at)
    const blocks = countBlocks(piece.subarray(0, count))
    if (blocks.count === 0 && end - at === PIECE) break
    seen += blocks.count * BLOCK
    if (blocks.count > 0) to = at + blocks.first
    end = at
  }
  if (seen === allocated && to - from >= LARGE_HOLE) holes.push({ from, to })
}

/** Blocks in which something stands, and where the first and the last byte of it are. */
function countBlocks(bytes: Buffer): {
  readonly count: number
  readonly first: number
  readonly last: number
} {
  let count = 0
  let first = -1
  let last = 0
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK)
    if (block.compare(EMPTY, 0, block.length) === 0) continue
    count++
    if (first < 0) first = at + block.findIndex((byte) => byte !== 0)
    last = at + block.findLastIndex((byte) => byte !== 0) + 1
  }
  return { count, first, last }
}

const EMPTY = Buffer.alloc(BLOCK)
