import type { Block } from './block.ts'
import type { Preserved } from './compaction.ts'
import { isSpoken, type Entry, type Link } from './entry.ts'

/** What is kept of an entry: never its blocks or its raw line. All nodes have all fields, so they stay small. */
export interface Node {
  readonly id: string
  /** As written, and as it is after compactions have moved what they preserved. */
  readonly writtenParentId: string | null | undefined
  parentId: string | null | undefined
  parent: Node | undefined
  /** The node before it in the file, progress lines left out. */
  before: Node | undefined
  readonly position: number
  readonly at: string
  /** A prompt, a reply, a result, or something else in a user's or an agent's place. */
  readonly spoken: boolean
  readonly sidechain: boolean
  readonly progress: boolean
  readonly boundary: boolean
  /** What a compaction boundary continues. */
  readonly continues: string | undefined
  readonly messageId: string | undefined
  readonly callIds: readonly string[] | undefined
  readonly answers: readonly string[] | undefined
  readonly callEntryId: string | undefined
  /** Where its line begins. */
  readonly offset: number
  /** Somebody's words to the agent: what agents count as a turn. */
  readonly prompt: boolean
  /** A prompt, reply or result, or a compaction. */
  readonly said: boolean
  readonly takesBack: Link['takesBack']
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

export function toNode(entry: Entry, link: Link, position: number): Node {
  const isReply = entry.kind === 'reply'
  return {
    id: entry.id,
    writtenParentId: link.parentId,
    parentId: link.parentId,
    parent: undefined,
    before: undefined,
    position,
    at: entry.at ?? '',
    spoken:
      entry.type === 'user' ||
      entry.type === 'assistant' ||
      (entry.kind === 'prompt' && entry.midTurn) ||
      isSaidInOrder(entry, link),
    sidechain: link.sidechain,
    progress: entry.type === 'progress',
    boundary: entry.kind === 'compaction',
    continues: link.logicalParentId,
    messageId: isReply ? entry.messageId : undefined,
    callIds: isReply ? callsOf(entry.blocks) : undefined,
    answers: entry.kind === 'result' ? answersOf(entry.blocks) : undefined,
    callEntryId: entry.kind === 'result' ? entry.callEntryId : undefined,
    offset: entry.place.offset,
    prompt: entry.kind === 'prompt',
    said: isSpoken(entry) || entry.kind === 'compaction',
    takesBack: link.takesBack,
  }
}

/** Where no line names a parent, whatever the model sees is said, and so is what a compaction put in its place. */
function isSaidInOrder(entry: Entry, link: Link): boolean {
  if (entry.kind === 'compaction') return entry.history !== undefined
  return link.parentId === undefined && entry.kind !== 'record' && entry.kind !== 'context'
}

function callsOf(blocks: readonly Block[]): readonly string[] | undefined {
  const ids = blocks.flatMap((block) => (block.kind === 'tool-use' ? [block.id] : []))
  return ids.length === 0 ? undefined : ids
}

function answersOf(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block) => (block.kind === 'tool-result' ? [block.toolUseId] : []))
}

/** What hangs from each anchor. Nothing else is asked for. */
type Children = ReadonlyMap<string, Set<Node>>

/** Puts what each compaction preserved between its anchor and what hangs from the anchor. */
export function relink(
  preserved: readonly Preserved[],
  nodes: ReadonlyMap<string, Node>,
  live: readonly Node[],
): void {
  if (preserved.length === 0) return
  const children: Children = new Map(preserved.map(({ anchorId }) => [anchorId, new Set()]))
  for (const node of live) children.get(node.parentId ?? '')?.add(node)
  for (const each of preserved) relinkOne(each, nodes, children)
}

function relinkOne(preserved: Preserved, nodes: ReadonlyMap<string, Node>, children: Children): void {
  const { anchorId } = preserved
  const ids = preserved.kind === 'entries' ? preserved.ids : [preserved.headId]
  const first = ids[0]
  const tailId = preserved.kind === 'entries' ? ids.at(-1) : preserved.tailId
  if (first === undefined || tailId === undefined || ids.some((id) => !nodes.has(id))) return
  const hang = (node: Node, parentId: string): void => {
    children.get(node.parentId ?? '')?.delete(node)
    node.parentId = parentId
    children.get(parentId)?.add(node)
  }
  let parentId = anchorId
  for (const id of ids) {
    const node = nodes.get(id)
    if (node) hang(node, parentId)
    parentId = id
  }
  // A copy: they are taken from it one by one, and may be put back.
  const hanging = [...(children.get(anchorId) ?? [])]
  for (const node of hanging) if (node.id !== first) hang(node, tailId)
}

/** Joins every node to its parent; one that names none, or one that was never written, to the node before it in the file. */
export function joinParents(main: readonly Node[], nodes: ReadonlyMap<string, Node>): Bridge[] {
  const bridges: Bridge[] = []
  let previous: Node | undefined
  for (const node of main) {
    node.before = previous
    if (node.takesBack !== undefined) node.parent = findLeft(node.takesBack, previous)
    else if (node.parentId === undefined) node.parent = previous
    else if (node.parentId !== null) {
      node.parent = nodes.get(node.parentId)
      if (node.parent === undefined) {
        node.parent = previous
        bridges.push(bridge(node, node.parentId, 'missing-parent', previous))
      }
    }
    if (!node.progress) previous = node
  }
  return bridges
}

/** The last node of the path that is left when something of it is taken back. */
function findLeft(takesBack: NonNullable<Link['takesBack']>, end: Node | undefined): Node | undefined {
  if ('from' in takesBack) {
    let node = end
    while (node !== undefined && node.offset >= takesBack.from) node = above(node)
    return node
  }
  let node = end
  for (let { turns } = takesBack; turns > 0 && node !== undefined; node = above(node))
    if (node.prompt) turns--
  // What the agent put in before the first of these turns was of that turn. What a session begins with stays.
  let spoken = node
  while (spoken !== undefined && !spoken.said) spoken = above(spoken)
  return spoken ?? node
}

/** The node before it on the path, as the path was when the node was written. */
function above(node: Node): Node | undefined {
  return node.parent ?? (node.boundary ? node.before : undefined)
}

function bridge(node: Node, parentId: string, reason: Bridge['reason'], to: Node | undefined): Bridge {
  return { id: node.id, reason, parentId, ...(to === undefined ? {} : { joinedTo: to.id }) }
}

/**
 * Joins the first node of every cycle, in file order, to the node before it. That may close another cycle further up,
 * whose first node stands earlier: so it comes to an end.
 */
export function breakCycles(main: readonly Node[]): Bridge[] {
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
      bridges.push(bridge(first, first.parentId ?? '', 'cycle', first.before))
      first.parent = first.before
      // From the beginning: what is above has changed.
      node = start
      way = []
      seen.clear()
    }
    for (const node of way) safe.add(node)
  }
  return bridges
}
