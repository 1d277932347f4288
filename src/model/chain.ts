import { isAmong, placeQueued, withQueued } from './chain-queued.ts'
import { breakCycles, joinParents, relink, toNode, type Bridge, type Node } from './chain-links.ts'
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
  /** Ids of the active path and, before each compaction, of the path that it continued. */
  readonly spine: ReadonlySet<string>
  readonly branches: readonly Branch[]
  /** Ids of everything that leads to the end of a branch and is not on the spine, in file order. Ask before more is added. */
  readonly ownOf: (leafId: string) => readonly string[]
  readonly bridges: readonly Bridge[]
  /** Ids of what was queued and is said again by the line that delivered it. */
  readonly delivered: ReadonlySet<string>
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
  const nodes = new Map<string, Node>()
  const order: Node[] = []
  const boundaries: Preserved[] = []
  const queue = createQueueTracker()
  const queued: Node[] = []
  const delivered = new Set<string>()

  return {
    add(entry) {
      for (const { id } of queue.add(entry)) delivered.add(id)
      if (entry.link === undefined) return
      if (isQueued(entry)) {
        // Behind the last one, and before the next.
        queued.push(toNode(entry, entry.link, order.length - 0.5))
        return
      }
      const node = toNode(entry, entry.link, order.length)
      // A line written twice counts where it was written last.
      nodes.set(entry.id, node)
      order.push(node)
      const preserved = entry.kind === 'compaction' ? entry.compaction.preserved : undefined
      if (preserved !== undefined) boundaries.push(preserved)
    },

    finish: () => finishSteps(finishing()),
    finishing,
  }

  function* finishing(): Steps<Chain> {
    const live = order.filter((node) => nodes.get(node.id) === node)
    for (const node of live) {
      node.parentId = node.writtenParentId
      node.parent = undefined
    }
    yield
    relink(boundaries, nodes, live)
    const main = live.some((node) => !node.sidechain)
      ? live.filter((node) => !node.sidechain)
      : // Some versions flag a whole session as a sidechain: follow the lineage, not the flag.
        live
    yield
    const missing = joinParents(main, nodes)
    yield
    const bridges = [...missing, ...breakCycles(main)]
    yield
    const ends = findEnds(main)
    const leaf = findTaken(main) ?? ends.at(-1)
    yield
    const messages = yield* indexMessages(main)
    yield
    const said = leaf === undefined ? [] : withWholeMessages(walk(leaf), messages)
    const spine = yield* withHistory(said, { nodes, main, messages })
    const beside = ends.filter((end) => !spine.has(end.id))
    const branches = beside.map((end) => toBranch(end, spine))
    yield
    const waiting = placeQueued(
      queued.filter(({ id }) => !delivered.has(id)),
      main,
    )
    const withdrawn = new Set(
      (queue.state.waiting ?? []).flatMap((each) => (each.isWithdrawn ? each.id : [])),
    )
    const path = withQueued(
      said,
      waiting.filter(({ node }) => !withdrawn.has(node.id)),
    )
    const onSpine = waiting.filter((each) => isAmong(each, spine))
    for (const { node } of onSpine) spine.add(node.id)
    return {
      path: path.map((node) => node.id),
      spine,
      branches,
      ownOf(leafId) {
        const end = nodes.get(leafId)
        const own = end === undefined ? [] : toOwn(end, spine, messages)
        return withQueued(
          own,
          waiting.filter(({ node }) => !spine.has(node.id)),
        ).map(({ id }) => id)
      },
      bridges: bridges.filter(({ id }) => spine.has(id)),
      delivered: new Set(delivered),
    }
  }
}

/** The last spoken node that each leaf leads back to, in file order. */
function findEnds(main: readonly Node[]): readonly Node[] {
  const hasChild = new Set<Node>()
  for (const node of main) if (node.parent && !node.progress) hasChild.add(node.parent)
  const ends = new Set<Node>()
  const seen = new Set<Node>()
  for (let index = main.length - 1; index >= 0; index--) {
    const leaf = main[index]
    if (leaf === undefined || leaf.progress || hasChild.has(leaf)) continue
    for (let node: Node | undefined = leaf; node && !seen.has(node); node = node.parent) {
      seen.add(node)
      if (node.spoken) {
        ends.add(node)
        break
      }
    }
  }
  const isAncestor = ancestorsOf(ends)
  return [...ends].filter((end) => !isAncestor.has(end)).toSorted((a, b) => a.position - b.position)
}

/** What took something back last, when nothing was said since: it is the end, and no leaf leads there. */
function findTaken(main: readonly Node[]): Node | undefined {
  const last = main.findLast((node) => node.spoken || node.takesBack !== undefined)
  return last?.takesBack === undefined ? undefined : last
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
function* withHistory(
  path: readonly Node[],
  tree: {
    readonly nodes: ReadonlyMap<string, Node>
    readonly main: readonly Node[]
    readonly messages: Messages
  },
): Steps<Set<string>> {
  const spine = new Set<string>()
  let segment = path
  for (;;) {
    yield
    for (const node of segment) spine.add(node.id)
    const boundary = segment.find((node) => node.boundary)
    if (boundary === undefined) return spine
    const continued = tree.nodes.get(boundary.continues ?? '')
    const end = continued ?? findContinued(boundary, tree.main)
    segment = end === undefined ? [] : withWholeMessages(walkWritten(end, spine, tree.nodes), tree.messages)
  }
}

/** The end of what a compaction stands for, where its line does not name it: what was said last before it. */
function findContinued(boundary: Node, main: readonly Node[]): Node | undefined {
  const { before } = boundary
  return before?.writtenParentId === undefined && before?.parent !== undefined
    ? before
    : main.findLast((node) => node.position < boundary.position && node.spoken)
}

/** Up from a node as the lines were written, before any compaction moved them; only what is new. */
function walkWritten(from: Node, seen: ReadonlySet<string>, nodes: ReadonlyMap<string, Node>): Node[] {
  const path: Node[] = []
  const visited = new Set<Node>()
  let node: Node | undefined = from
  while (node && !visited.has(node)) {
    visited.add(node)
    if (!seen.has(node.id)) path.push(node)
    node = node.writtenParentId === null ? undefined : (nodes.get(node.writtenParentId ?? '') ?? node.parent)
  }
  return path.toReversed()
}

/** Which lines make up each message, and which results answer its calls. */
interface Messages {
  readonly lines: ReadonlyMap<string, readonly Node[]>
  readonly results: ReadonlyMap<string, readonly Node[]>
}

/** Made once: a session of many compactions asks for every stretch between them. */
function* indexMessages(main: readonly Node[]): Steps<Messages> {
  const lines = new Map<string, Node[]>()
  const results = new Map<string, Node[]>()
  /** For the id of a line or of a call: the message it belongs to. */
  const owners = new Map<string, string>()
  for (const node of main) {
    if (node.messageId === undefined) continue
    append(lines, node.messageId, node)
    owners.set(node.id, node.messageId)
    for (const callId of node.callIds ?? []) owners.set(callId, node.messageId)
  }
  yield
  for (const node of main) {
    if (node.answers === undefined) continue
    const owner = [node.parentId, node.callEntryId, ...node.answers]
      .map((id) => owners.get(id ?? ''))
      .find((id) => id !== undefined)
    if (owner !== undefined) append(results, owner, node)
  }
  return { lines, results }
}

function append(map: Map<string, Node[]>, key: string, node: Node): void {
  const nodes = map.get(key)
  if (nodes) nodes.push(node)
  else map.set(key, [node])
}

/** Adds the other lines of each message on the path, and the results of all its calls, after its last line. */
function withWholeMessages(path: readonly Node[], messages: Messages): readonly Node[] {
  const onPath = new Set(path)
  const answered = new Set(path.flatMap((node) => node.answers ?? []))
  const lastLine = new Map<string, Node>()
  for (const node of path) if (node.messageId !== undefined) lastLine.set(node.messageId, node)
  return path.flatMap((node) => {
    const { messageId } = node
    if (messageId === undefined || lastLine.get(messageId) !== node) return [node]
    const missing = (messages.lines.get(messageId) ?? []).filter((line) => !onPath.has(line))
    for (const result of messages.results.get(messageId) ?? []) {
      // A second result for a call that is answered already is on another branch.
      const known = result.answers?.every((id) => answered.has(id)) ?? false
      if (onPath.has(result) || known) continue
      missing.push(result)
      for (const id of result.answers ?? []) answered.add(id)
    }
    return missing.length === 0 ? [node] : [node, ...missing.toSorted(linesBeforeResults)]
  })
}

function linesBeforeResults(a: Node, b: Node): number {
  const byKind = Number(a.answers !== undefined) - Number(b.answers !== undefined)
  if (byKind !== 0) return byKind
  return a.at < b.at ? -1 : a.at > b.at ? 1 : a.position - b.position
}

function toBranch(end: Node, onPath: ReadonlySet<string>): Branch {
  let size = 0
  let node: Node | undefined = end
  for (; node && !onPath.has(node.id); node = node.parent) if (node.spoken) size++
  return { leafId: end.id, size, ...(node === undefined ? {} : { forkId: node.id }) }
}

/** Whole messages, as on the active path: what was called there, and what came of it. */
function toOwn(end: Node, onPath: ReadonlySet<string>, messages: Messages): readonly Node[] {
  const nodes: Node[] = []
  for (let node: Node | undefined = end; node && !onPath.has(node.id); node = node.parent) nodes.push(node)
  return withWholeMessages(nodes.toReversed(), messages)
    .filter(({ id }) => !onPath.has(id))
    .toSorted((a, b) => a.position - b.position)
}
