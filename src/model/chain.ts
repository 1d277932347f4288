import { breakCycles, joinParents, relink, toBridge, type Bridge, type Links } from './chain-links.ts'
import {
  BOUNDARY,
  createChainNodes,
  NO_PARENT,
  PROGRESS,
  SIDECHAIN,
  SPOKEN,
  UNNAMED,
  type ChainNodes,
} from './chain-nodes.ts'
import { indexMessages, withWholeMessages, type Messages } from './chain-messages.ts'
import { placeQueued, withQueued, type OnPath, type QueuedNode } from './chain-queued.ts'
import type { Preserved } from './compaction.ts'
import type { Entry } from './entry.ts'
import { createQueueTracker, isQueued } from './queue.ts'
import { finishSteps, type Steps } from './steps.ts'

/**
 * The tree that entries hang in, as ids only: small enough to keep for the largest session.
 *
 * [CHAIN1] The active end is the last prompt, reply or result in the file that any leaf leads back to.
 * [CHAIN2] From there the path goes from parent to parent. A missing parent and a cycle are bridged to the entry
 *          before it in the file, and the bridge is reported: nothing said becomes unreachable.
 * [CHAIN3] A compaction ends the path; what it preserved stands between its summary and what came after.
 * [CHAIN5] An entry that names no parent follows the one before it in the file.
 * [CHAIN6] What an agent took back is a branch. What comes next hangs from what was left; when nothing does, the path
 *          ends there.
 * [CHAIN7] Words that were queued while a turn ran, and that no line delivered, stand behind what was said before them
 *          in the file, and behind the results of its calls. What was taken back before it was sent is not on the path.
 * [CHAIN4] All lines of a message and all results of its calls are on the path when one of its lines is.
 */
export interface Chain {
  /** Ids of the active path, oldest first. */
  readonly path: readonly string[]
  /** Where the lines of the path begin: for those who need no ids of a path of a million lines. */
  readonly places: Float64Array
  /** Ids of the active path and, before each compaction, of the path that it continued. */
  readonly spine: IdSet
  readonly branches: readonly Branch[]
  /** Ids of everything that leads to the end of a branch and is not on the spine, in file order. Ask before more is added. */
  readonly ownOf: (leafId: string) => readonly string[]
  readonly bridges: readonly Bridge[]
  /** Ids of what was queued and is said again by the line that delivered it. */
  readonly delivered: ReadonlySet<string>
}

/** Ids that are asked for. A set of them is one. */
export interface IdSet extends Iterable<string> {
  readonly size: number
  has(id: string): boolean
}

/** An end of the conversation beside the active one. Kept, never discarded. */
export interface Branch {
  readonly leafId: string
  /** The last entry it shares with the active path; absent when it shares none. */
  readonly forkId?: string
  /** How many prompts, replies and results are only on this branch. */
  readonly size: number
}

export interface ChainFold {
  add(entry: Entry): void
  /** The tree of what was added so far. More may be added afterwards. */
  finish(): Chain
  /** The same in steps that are short each, for those who do other work between. Nothing is added meanwhile. */
  finishing(): Steps<Chain>
}

export function createChain(): ChainFold {
  const nodes = createChainNodes()
  const boundaries: Preserved[] = []
  const queue = createQueueTracker()
  const queued: QueuedNode[] = []
  const delivered = new Set<string>()

  return {
    add(entry) {
      for (const { id } of queue.add(entry)) delivered.add(id)
      if (entry.link === undefined) return
      if (isQueued(entry)) {
        // Behind the last one, and before the next.
        queued.push({ id: entry.id, offset: entry.place.offset, position: nodes.count })
        return
      }
      nodes.add(entry, entry.link)
      const preserved = entry.kind === 'compaction' ? entry.compaction.preserved : undefined
      if (preserved !== undefined) boundaries.push(preserved)
    },

    finish: () => finishSteps(finishing()),
    finishing,
  }

  function* finishing(): Steps<Chain> {
    const links = toLinks(nodes, boundaries)
    yield
    const missing = joinParents(links)
    yield
    const bridges = [...missing, ...breakCycles(links)]
    yield
    const ends = findEnds(links)
    const leaf = findTaken(links) ?? ends.at(-1)
    yield
    const messages = yield* indexMessages(links)
    yield
    const said = leaf === undefined ? NO_NODES : withWholeMessages(walk(leaf, links), messages)
    const spine = yield* withHistory(said, messages)
    const branches = ends.filter((end) => spine[end] !== 1).map((end) => toBranch(end, spine, links))
    yield
    const waiting = placeQueued(
      queued.filter(({ id }) => !delivered.has(id)),
      links,
    )
    const withdrawn = new Set(
      (queue.state.waiting ?? []).flatMap((each) => (each.isWithdrawn ? each.id : [])),
    )
    const path = withQueued(
      said,
      waiting.filter(({ id }) => !withdrawn.has(id)),
      links,
    )
    const onSpine = waiting.filter(({ after }) => after < 0 || spine[after] === 1)
    const beside = waiting.filter((each) => !onSpine.includes(each))
    const idsOf = (some: Int32Array | readonly OnPath[]): string[] =>
      Array.from(some, (each) => (typeof each === 'number' ? nodes.ids.idOf(nodes.id(each)) : each.id))
    let ids: readonly string[] | undefined
    return {
      get path() {
        return (ids ??= idsOf(path))
      },
      get places() {
        return Float64Array.from(path, (each) =>
          typeof each === 'number' ? nodes.offset(each) : each.offset,
        )
      },
      spine: toIdSet(nodes, spine, new Set(onSpine.map(({ id }) => id))),
      branches,
      ownOf(leafId) {
        const end = nodes.nodeOf(nodes.ids.find(leafId))
        const own = end < 0 ? NO_NODES : toOwn(end, spine, messages)
        return idsOf(withQueued(own, beside, links))
      },
      bridges: bridges.filter(({ node }) => spine[node] === 1).map((each) => toBridge(links, each)),
      delivered: new Set(delivered),
    }
  }
}

const NO_NODES = new Int32Array(0)

function toLinks(nodes: ChainNodes, boundaries: readonly Preserved[]): Links {
  const { count } = nodes
  const live = new Uint8Array(count)
  let hasMain = false
  for (let node = 0; node < count; node++) {
    live[node] = nodes.nodeOf(nodes.id(node)) === node ? 1 : 0
    hasMain ||= live[node] === 1 && !nodes.has(node, SIDECHAIN)
  }
  const moved = relink(boundaries, nodes, live)
  // Some versions flag a whole session as a sidechain: follow the lineage, not the flag.
  const isMain = hasMain ? live.map((is, node) => (nodes.has(node, SIDECHAIN) ? 0 : is)) : live
  return {
    nodes,
    isMain,
    parent: new Int32Array(count).fill(-1),
    before: new Int32Array(count).fill(-1),
    parentId: (node) => moved.get(node) ?? nodes.writtenParent(node),
  }
}

function toIdSet(nodes: ChainNodes, on: Uint8Array, more: ReadonlySet<string>): IdSet {
  return {
    get size() {
      return on.reduce((sum, is) => sum + is, more.size)
    },
    has: (id) => on[nodes.nodeOf(nodes.ids.find(id))] === 1 || more.has(id),
    *[Symbol.iterator]() {
      for (const [node, is] of on.entries()) if (is === 1) yield nodes.ids.idOf(nodes.id(node))
      yield* more
    },
  }
}

/** The last spoken node that each leaf leads back to, in file order. */
function findEnds({ nodes, isMain, parent }: Links): readonly number[] {
  const hasChild = new Uint8Array(nodes.count)
  for (let node = 0; node < nodes.count; node++) {
    const up = parent[node] ?? -1
    if (isMain[node] === 1 && up >= 0 && !nodes.has(node, PROGRESS)) hasChild[up] = 1
  }
  const ends: number[] = []
  const seen = new Uint8Array(nodes.count)
  for (let leaf = nodes.count - 1; leaf >= 0; leaf--) {
    if (isMain[leaf] !== 1 || nodes.has(leaf, PROGRESS) || hasChild[leaf] === 1) continue
    for (let node = leaf; node >= 0 && seen[node] !== 1; node = parent[node] ?? -1) {
      seen[node] = 1
      if (nodes.has(node, SPOKEN)) {
        ends.push(node)
        break
      }
    }
  }
  // Nodes above any of the ends: such an end is a stop on the way to another one.
  const isAbove = new Uint8Array(nodes.count)
  for (const end of ends)
    for (let node = parent[end] ?? -1; node >= 0 && isAbove[node] !== 1; node = parent[node] ?? -1)
      isAbove[node] = 1
  return ends.filter((end) => isAbove[end] !== 1).toSorted((a, b) => a - b)
}

/** What took something back last, when nothing was said since: it is the end, and no leaf leads there. */
function findTaken({ nodes, isMain }: Links): number | undefined {
  for (let node = nodes.count - 1; node >= 0; node--) {
    if (isMain[node] !== 1) continue
    const isTaking = nodes.takesBack(node) !== undefined
    if (isTaking || nodes.has(node, SPOKEN)) return isTaking ? node : undefined
  }
  return undefined
}

/** From the beginning to a node. */
function walk(leaf: number, { parent }: Links): Int32Array {
  let length = 0
  for (let node = leaf; node >= 0; node = parent[node] ?? -1) length++
  const path = new Int32Array(length)
  for (let node = leaf; node >= 0; node = parent[node] ?? -1) path[--length] = node
  return path
}

/** Goes on behind each compaction to what it continued, up to the beginning of the session. */
function* withHistory(path: Int32Array, messages: Messages): Steps<Uint8Array> {
  const { links } = messages
  const { nodes } = links
  const spine = new Uint8Array(nodes.count)
  let segment = path
  for (;;) {
    yield
    for (const node of segment) spine[node] = 1
    const boundary = segment.find((node) => nodes.has(node, BOUNDARY))
    if (boundary === undefined) return spine
    const named = nodes.nodeOf(nodes.continues(boundary))
    const end = named < 0 ? findContinued(boundary, links) : named
    segment = end < 0 ? NO_NODES : withWholeMessages(walkWritten(end, spine, links), messages)
  }
}

/** The end of what a compaction stands for, where its line does not name it: what was said last before it. */
function findContinued(boundary: number, { nodes, isMain, parent, before }: Links): number {
  const last = before[boundary] ?? -1
  if (last >= 0 && nodes.writtenParent(last) === UNNAMED && (parent[last] ?? -1) >= 0) return last
  let node = boundary - 1
  while (node >= 0 && (isMain[node] !== 1 || !nodes.has(node, SPOKEN))) node--
  return node
}

/** Up from a node as the lines were written, before any compaction moved them; only what is new. */
function walkWritten(from: number, seen: Uint8Array, { nodes, parent }: Links): Int32Array {
  const path: number[] = []
  const visited = new Set<number>()
  for (let node = from; node >= 0 && !visited.has(node);) {
    visited.add(node)
    if (seen[node] !== 1) path.push(node)
    const written = nodes.writtenParent(node)
    if (written === NO_PARENT) break
    const named = nodes.nodeOf(written)
    node = named < 0 ? (parent[node] ?? -1) : named
  }
  return Int32Array.from(path.toReversed())
}

function toBranch(end: number, spine: Uint8Array, { nodes, parent }: Links): Branch {
  const idOf = (node: number): string => nodes.ids.idOf(nodes.id(node))
  let size = 0
  let node = end
  for (; node >= 0 && spine[node] !== 1; node = parent[node] ?? -1) if (nodes.has(node, SPOKEN)) size++
  return { leafId: idOf(end), size, ...(node < 0 ? {} : { forkId: idOf(node) }) }
}

/** Whole messages, as on the active path: what was called there, and what came of it. */
function toOwn(end: number, spine: Uint8Array, messages: Messages): Int32Array {
  const { parent } = messages.links
  const nodes: number[] = []
  for (let node = end; node >= 0 && spine[node] !== 1; node = parent[node] ?? -1) nodes.push(node)
  return withWholeMessages(Int32Array.from(nodes.toReversed()), messages)
    .filter((node) => spine[node] !== 1)
    .toSorted()
}
