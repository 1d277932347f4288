import type { Preserved } from './compaction.ts'
import { BOUNDARY, NO_PARENT, PROGRESS, PROMPT, SAID, UNNAMED, type ChainNodes } from './chain-nodes.ts'
import type { Link } from './entry.ts'

/** How the nodes that count hang from each other, once compactions have moved what they preserved. -1: nothing. */
export interface Links {
  readonly nodes: ChainNodes
  /** 1 for each node of the conversation; 0 for a line that was written again, and for sidechains of others. */
  readonly isMain: Uint8Array
  readonly parent: Int32Array
  /** The node before it in the file, progress lines left out. */
  readonly before: Int32Array
  /** The id of its parent, as it is now. */
  parentId(node: number): number
}

/** A break in the chain that was closed by file order. */
export interface Bridge {
  readonly id: string
  readonly reason: 'missing-parent' | 'cycle'
  /** The parent the line names. */
  readonly parentId: string
  /** The entry it was joined to; absent when there is none before it. */
  readonly joinedTo?: string
}

/** The same in numbers: of a broken file there may be one for every line. */
export interface FoundBridge {
  readonly node: number
  readonly reason: Bridge['reason']
  /** The id of the parent. */
  readonly parentId: number
  readonly joinedTo: number
}

export function toBridge({ nodes }: Links, { node, reason, parentId, joinedTo }: FoundBridge): Bridge {
  const idOf = (id: number): string => (id < 0 ? '' : nodes.ids.idOf(id))
  const joined = joinedTo < 0 ? {} : { joinedTo: idOf(nodes.id(joinedTo)) }
  return { id: idOf(nodes.id(node)), reason, parentId: idOf(parentId), ...joined }
}

/** Which node hangs from which other parent than the one it names. */
export type Moved = ReadonlyMap<number, number>

/** Puts what each compaction preserved between its anchor and what hangs from the anchor. */
export function relink(preserved: readonly Preserved[], nodes: ChainNodes, live: Uint8Array): Moved {
  const moved = new Map<number, number>()
  if (preserved.length === 0) return moved
  const parentOf = (node: number): number => moved.get(node) ?? nodes.writtenParent(node)
  /** What hangs from each anchor. Nothing else is asked for. */
  const children = new Map<number, Set<number>>()
  for (const { anchorId } of preserved) children.set(nodes.ids.add(anchorId), new Set())
  for (let node = 0; node < nodes.count; node++) if (live[node] === 1) children.get(parentOf(node))?.add(node)
  for (const each of preserved) {
    const ids = each.kind === 'entries' ? each.ids : [each.headId]
    const tail = each.kind === 'entries' ? each.ids.at(-1) : each.tailId
    const first = ids[0]
    const kept = ids.map((id) => nodes.nodeOf(nodes.ids.find(id)))
    if (first === undefined || tail === undefined || kept.includes(-1)) continue
    const hang = (node: number, parentId: number): void => {
      children.get(parentOf(node))?.delete(node)
      moved.set(node, parentId)
      children.get(parentId)?.add(node)
    }
    const anchor = nodes.ids.add(each.anchorId)
    const tailId = nodes.ids.add(tail)
    let parentId = anchor
    for (const node of kept) {
      hang(node, parentId)
      parentId = nodes.id(node)
    }
    // A copy: they are taken from it one by one, and may be put back.
    const hanging = Array.from(children.get(anchor) ?? [])
    for (const node of hanging) if (node !== kept[0]) hang(node, tailId)
  }
  return moved
}

/** Joins every node to its parent; one that names none, or one that was never written, to the node before it in the file. */
export function joinParents(links: Links): FoundBridge[] {
  const { nodes, isMain, parent, before } = links
  const bridges: FoundBridge[] = []
  let previous = -1
  for (let node = 0; node < nodes.count; node++) {
    if (isMain[node] !== 1) continue
    before[node] = previous
    const takesBack = nodes.takesBack(node)
    const parentId = links.parentId(node)
    if (takesBack !== undefined) parent[node] = findLeft(links, takesBack, previous)
    else if (parentId === UNNAMED) parent[node] = previous
    else if (parentId !== NO_PARENT) {
      const found = nodes.nodeOf(parentId)
      parent[node] = found < 0 ? previous : found
      if (found < 0) bridges.push({ node, reason: 'missing-parent', parentId, joinedTo: previous })
    }
    if (!nodes.has(node, PROGRESS)) previous = node
  }
  return bridges
}

/** The last node of the path that is left when something of it is taken back. */
function findLeft(links: Links, takesBack: NonNullable<Link['takesBack']>, end: number): number {
  const { nodes } = links
  let node = end
  if ('from' in takesBack) {
    while (node >= 0 && nodes.offset(node) >= takesBack.from) node = above(links, node)
    return node
  }
  for (let { turns } = takesBack; turns > 0 && node >= 0; node = above(links, node))
    if (nodes.has(node, PROMPT)) turns--
  // What the agent put in before the first of these turns was of that turn. What a session begins with stays.
  let said = node
  while (said >= 0 && !nodes.has(said, SAID)) said = above(links, said)
  return said >= 0 ? said : node
}

/** The node before it on the path, as the path was when the node was written: never one behind it, so that it ends. */
function above({ nodes, parent, before }: Links, node: number): number {
  const found = parent[node] ?? -1
  if (found >= node) return before[node] ?? -1
  return found < 0 && nodes.has(node, BOUNDARY) ? (before[node] ?? -1) : found
}

/**
 * Joins the first node of every cycle, in file order, to the node before it. That may close another cycle further up,
 * whose first node stands earlier: so it comes to an end.
 */
export function breakCycles(links: Links): FoundBridge[] {
  const { nodes, isMain, parent, before } = links
  const bridges: FoundBridge[] = []
  const safe = new Uint8Array(nodes.count)
  for (let start = 0; start < nodes.count; start++) {
    if (isMain[start] !== 1 || safe[start] === 1) continue
    let way: number[] = []
    const seen = new Set<number>()
    for (let node = start; node >= 0 && safe[node] !== 1;) {
      if (!seen.has(node)) {
        seen.add(node)
        way.push(node)
        node = parent[node] ?? -1
        continue
      }
      const first = way.slice(way.indexOf(node)).reduce((a, b) => Math.min(a, b))
      const joinedTo = before[first] ?? -1
      bridges.push({ node: first, reason: 'cycle', parentId: links.parentId(first), joinedTo })
      parent[first] = joinedTo
      // From the beginning: what is above has changed.
      node = start
      way = []
      seen.clear()
    }
    for (const node of way) safe[node] = 1
  }
  return bridges
}
