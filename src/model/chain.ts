import type { Entry } from './entry.ts'

/**
 * The tree that entries hang in, as ids only: small enough to keep for the largest session.
 *
 * [CHAIN1] The active end is the last prompt, reply or result in the file that any leaf leads back to.
 * [CHAIN2] From there the path goes from parent to parent. A missing parent and a cycle are bridged to the entry
 *          before it in the file, and the bridge is reported: nothing said becomes unreachable.
 * [CHAIN3] A compaction ends the path; what it preserved stands between its summary and what came after.
 * [CHAIN4] All lines of a message and all results of its calls are on the path when one of its lines is.
 */
export interface Chain {
  /** Ids of the active path, oldest first. */
  readonly path: readonly string[]
  /** Ids of the active path and, before each compaction, of the path that it continued. */
  readonly spine: ReadonlySet<string>
  readonly branches: readonly Branch[]
  readonly bridges: readonly Bridge[]
}

/** An end of the conversation beside the active one. Kept, never discarded. */
export interface Branch {
  readonly leafId: string
  /** The last entry it shares with the active path; absent when it shares none. */
  readonly forkId?: string
  /** How many prompts, replies and results are only on this branch. */
  readonly size: number
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

export interface ChainFold {
  add(entry: Entry): void
  finish(): Chain
}

interface Node {
  readonly id: string
  parent: Node | undefined
  /** As written, and as it is after compactions have moved what they preserved. */
  readonly writtenParentId: string | null
  parentId: string | null
  readonly position: number
  readonly entry: Kept
}

/** What is kept of an entry: never its blocks or its raw line. */
interface Kept {
  readonly spoken: boolean
  readonly sidechain: boolean
  readonly progress: boolean
  /** A compaction boundary, and what it continues. */
  readonly boundary: boolean
  readonly continues?: string
  readonly at: string
  readonly messageId?: string
  readonly callIds?: readonly string[]
  readonly answers?: readonly string[]
  readonly callEntryId?: string
}

export function createChain(): ChainFold {
  const nodes = new Map<string, Node>()
  const order: Node[] = []
  const boundaries: Entry[] = []

  return {
    add(entry) {
      if (entry.link === undefined) return
      const node: Node = {
        id: entry.id,
        parent: undefined,
        writtenParentId: entry.link.parentId,
        parentId: entry.link.parentId,
        position: order.length,
        entry: keep(entry, entry.link.sidechain),
      }
      // A line written twice counts where it was written last.
      nodes.set(entry.id, node)
      order.push(node)
      if (entry.kind === 'compaction') boundaries.push(entry)
    },

    finish() {
      const live = order.filter((node) => nodes.get(node.id) === node)
      for (const entry of boundaries) relink(entry, nodes, live)
      const main = live.some((node) => !node.entry.sidechain)
        ? live.filter((node) => !node.entry.sidechain)
        : // Some versions flag a whole session as a sidechain: follow the lineage, not the flag.
          live
      const bridges = [...joinParents(main, nodes), ...breakCycles(main)]
      const ends = findEnds(main)
      const leaf = ends.at(-1)
      if (leaf === undefined) return { path: [], spine: new Set(), branches: [], bridges }
      const path = withWholeMessages(walk(leaf), main)
      const spine = withHistory(path, { nodes, main })
      return {
        path: path.map((node) => node.id),
        spine,
        branches: ends.filter((end) => !spine.has(end.id)).map((end) => toBranch(end, spine)),
        bridges: bridges.filter(({ id }) => spine.has(id)),
      }
    },
  }
}

function keep(entry: Entry, sidechain: boolean): Kept {
  const kept = {
    spoken: entry.type === 'user' || entry.type === 'assistant' || (entry.kind === 'prompt' && entry.midTurn),
    sidechain,
    progress: entry.type === 'progress',
    boundary: entry.kind === 'compaction',
    at: entry.at ?? '',
    ...(entry.link?.logicalParentId === undefined ? {} : { continues: entry.link.logicalParentId }),
  }
  if (entry.kind === 'reply') {
    const callIds = entry.blocks.flatMap((block) => (block.kind === 'tool-use' ? [block.id] : []))
    return {
      ...kept,
      ...(entry.messageId === undefined ? {} : { messageId: entry.messageId }),
      ...(callIds.length === 0 ? {} : { callIds }),
    }
  }
  if (entry.kind === 'result') {
    const answers = entry.blocks.flatMap((block) => (block.kind === 'tool-result' ? [block.toolUseId] : []))
    return {
      ...kept,
      answers,
      ...(entry.callEntryId === undefined ? {} : { callEntryId: entry.callEntryId }),
    }
  }
  return kept
}

/** Puts what a compaction preserved between its anchor and what hangs from the anchor. */
function relink(entry: Entry, nodes: ReadonlyMap<string, Node>, live: readonly Node[]): void {
  const preserved = entry.kind === 'compaction' ? entry.compaction.preserved : undefined
  if (preserved === undefined) return
  const ids = preserved.kind === 'entries' ? preserved.ids : [preserved.headId]
  const first = ids[0]
  const tailId = preserved.kind === 'entries' ? ids.at(-1) : preserved.tailId
  if (first === undefined || tailId === undefined || ids.some((id) => !nodes.has(id))) return
  let parentId = preserved.anchorId
  for (const id of ids) {
    const node = nodes.get(id)
    if (node) node.parentId = parentId
    parentId = id
  }
  for (const node of live) {
    if (node.parentId === preserved.anchorId && node.id !== first) node.parentId = tailId
  }
}

/** Joins every node to its parent; one whose parent was never written, to the node before it in the file. */
function joinParents(main: readonly Node[], nodes: ReadonlyMap<string, Node>): Bridge[] {
  const bridges: Bridge[] = []
  let previous: Node | undefined
  for (const node of main) {
    if (node.parentId !== null) {
      node.parent = nodes.get(node.parentId)
      if (node.parent === undefined) {
        node.parent = previous
        bridges.push(bridge(node, node.parentId, 'missing-parent', previous))
      }
    }
    if (!node.entry.progress) previous = node
  }
  return bridges
}

function bridge(node: Node, parentId: string, reason: Bridge['reason'], to: Node | undefined): Bridge {
  return { id: node.id, reason, parentId, ...(to === undefined ? {} : { joinedTo: to.id }) }
}

/**
 * Joins the first node of every cycle, in file order, to the node before it. That may close another cycle further up,
 * whose first node stands earlier: so it comes to an end.
 */
function breakCycles(main: readonly Node[]): Bridge[] {
  const bridges: Bridge[] = []
  const safe = new Set<Node>()
  for (const start of main) {
    let way: Node[] = []
    const seen = new Set<Node>()
    for (let node: Node | undefined = start; node && !safe.has(node);) {
      if (!seen.has(node)) {
        seen.add(node)
        way.push(node)
        node = node.parent
        continue
      }
      const first = way.slice(way.indexOf(node)).reduce((a, b) => (a.position < b.position ? a : b))
      const before = main.findLast((other) => other.position < first.position && !other.entry.progress)
      bridges.push(bridge(first, first.parentId ?? '', 'cycle', before))
      first.parent = before
      // From the beginning: what is above has changed.
      node = start
      way = []
      seen.clear()
    }
    for (const node of way) safe.add(node)
  }
  return bridges
}

/** The last spoken node that each leaf leads back to, in file order. */
function findEnds(main: readonly Node[]): readonly Node[] {
  const hasChild = new Set<Node>()
  for (const node of main) if (node.parent && !node.entry.progress) hasChild.add(node.parent)
  const ends = new Set<Node>()
  const seen = new Set<Node>()
  for (let index = main.length - 1; index >= 0; index--) {
    const leaf = main[index]
    if (leaf === undefined || leaf.entry.progress || hasChild.has(leaf)) continue
    for (let node: Node | undefined = leaf; node && !seen.has(node); node = node.parent) {
      seen.add(node)
      if (node.entry.spoken) {
        ends.add(node)
        break
      }
    }
  }
  const isAncestor = ancestorsOf(ends)
  return [...ends].filter((end) => !isAncestor.has(end)).toSorted((a, b) => a.position - b.position)
}

/** Nodes above any of the ends: such an end is a stop on the way to another one. */
function ancestorsOf(ends: ReadonlySet<Node>): ReadonlySet<Node> {
  const above = new Set<Node>()
  for (const end of ends) {
    for (let node = end.parent; node && !above.has(node); node = node.parent) above.add(node)
  }
  return above
}

function walk(leaf: Node): Node[] {
  const path: Node[] = []
  for (let node: Node | undefined = leaf; node; node = node.parent) path.push(node)
  return path.toReversed()
}

/** Goes on behind each compaction to what it continued, up to the beginning of the session. */
function withHistory(
  path: readonly Node[],
  tree: { readonly nodes: ReadonlyMap<string, Node>; readonly main: readonly Node[] },
): ReadonlySet<string> {
  const spine = new Set<string>()
  let segment = path
  for (;;) {
    for (const node of segment) spine.add(node.id)
    const boundary = segment.find((node) => node.entry.boundary)
    if (boundary === undefined) return spine
    const continued = tree.nodes.get(boundary.entry.continues ?? '')
    const end =
      continued ?? tree.main.findLast((node) => node.position < boundary.position && node.entry.spoken)
    segment = end === undefined ? [] : withWholeMessages(walkWritten(end, spine, tree.nodes), tree.main)
  }
}

/** Up from a node as the lines were written, before any compaction moved them; only what is new. */
function walkWritten(from: Node, seen: ReadonlySet<string>, nodes: ReadonlyMap<string, Node>): Node[] {
  const path: Node[] = []
  const visited = new Set<Node>()
  let node: Node | undefined = from
  while (node && !visited.has(node)) {
    visited.add(node)
    if (!seen.has(node.id)) path.push(node)
    node = node.writtenParentId === null ? undefined : (nodes.get(node.writtenParentId) ?? node.parent)
  }
  return path.toReversed()
}

/** Adds the other lines of each message on the path, and the results of all its calls, after its last line. */
function withWholeMessages(path: readonly Node[], main: readonly Node[]): readonly Node[] {
  const onPath = new Set(path)
  const messages = new Map<string, Node[]>()
  const owners = new Map<string, string>()
  for (const node of main) {
    const { messageId, callIds } = node.entry
    if (messageId === undefined) continue
    const lines = messages.get(messageId)
    if (lines) lines.push(node)
    else messages.set(messageId, [node])
    owners.set(node.id, messageId)
    for (const callId of callIds ?? []) owners.set(callId, messageId)
  }
  const missing = new Map<string, Node[]>()
  const answered = new Set(path.flatMap((node) => node.entry.answers ?? []))
  for (const node of main) {
    if (onPath.has(node)) continue
    const owner = ownerOf(node, owners, answered)
    if (owner === undefined) continue
    const nodes = missing.get(owner)
    if (nodes) nodes.push(node)
    else missing.set(owner, [node])
    for (const answer of node.entry.answers ?? []) answered.add(answer)
  }
  if (missing.size === 0) return path
  const lastLine = new Map<string, Node>()
  for (const node of path) if (node.entry.messageId !== undefined) lastLine.set(node.entry.messageId, node)
  return path.flatMap((node) => {
    const { messageId } = node.entry
    const added =
      messageId !== undefined && lastLine.get(messageId) === node ? missing.get(messageId) : undefined
    return added === undefined ? [node] : [node, ...added.toSorted(linesBeforeResults)]
  })
}

/** The message a node off the path belongs to: its own, or the one whose call it answers. */
function ownerOf(
  node: Node,
  owners: ReadonlyMap<string, string>,
  answered: ReadonlySet<string>,
): string | undefined {
  const { messageId, answers, callEntryId } = node.entry
  if (messageId !== undefined) return messageId
  if (answers === undefined || (answers.length > 0 && answers.every((id) => answered.has(id))))
    return undefined
  for (const id of [node.parentId, callEntryId, ...answers]) {
    const owner = id === null || id === undefined ? undefined : owners.get(id)
    if (owner !== undefined) return owner
  }
  return undefined
}

function linesBeforeResults(a: Node, b: Node): number {
  const byKind = Number(a.entry.answers !== undefined) - Number(b.entry.answers !== undefined)
  if (byKind !== 0) return byKind
  return a.entry.at < b.entry.at ? -1 : a.entry.at > b.entry.at ? 1 : a.position - b.position
}

function toBranch(end: Node, onPath: ReadonlySet<string>): Branch {
  let size = 0
  let node: Node | undefined = end
  for (; node && !onPath.has(node.id); node = node.parent) if (node.entry.spoken) size++
  return { leafId: end.id, size, ...(node === undefined ? {} : { forkId: node.id }) }
}
