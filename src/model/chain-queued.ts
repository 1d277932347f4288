import { BOUNDARY, PROGRESS, RESULT, SPOKEN } from './chain-nodes.ts'
import type { Links } from './chain-links.ts'

/** Words that were queued: what they are called, where their line begins, and how many nodes stand before it. */
export interface QueuedNode {
  readonly id: string
  readonly offset: number
  readonly position: number
}

/** Queued words hang from nothing: what they follow is told by where they stand in the file. */
export interface PlacedQueued extends QueuedNode {
  /** The last thing that was said before them, on whichever branch. -1: they come first. */
  readonly after: number
}

/** Finds what queued words follow. */
export function placeQueued(queued: readonly QueuedNode[], links: Links): readonly PlacedQueued[] {
  const { nodes, isMain, parent } = links
  return queued.map((each) => {
    let after = each.position - 1
    while (after >= 0 && (isMain[after] !== 1 || nodes.has(after, PROGRESS))) after--
    while (after >= 0 && !nodes.has(after, SPOKEN) && !nodes.has(after, BOUNDARY)) after = parent[after] ?? -1
    return { ...each, after }
  })
}

/** What is on a path: a node, or queued words. */
export type OnPath = number | PlacedQueued

/** Puts queued words in their places: never between the lines of a message, or between a call and its result. */
export function withQueued(
  path: Int32Array,
  queued: readonly PlacedQueued[],
  { nodes }: Links,
): Int32Array | readonly OnPath[] {
  if (queued.length === 0) return path
  const out: OnPath[] = [...path]
  const isNode = (each: OnPath): each is number => typeof each === 'number'
  const isBoundary = out[0] !== undefined && isNode(out[0]) && nodes.has(out[0], BOUNDARY)
  const on = new Set(path)
  for (const each of queued) {
    if (each.after < 0 ? isBoundary : !on.has(each.after)) continue
    const before = out.findLastIndex((one) =>
      isNode(one) ? one < each.position : one.position <= each.position,
    )
    const reply = out.slice(0, before + 1).findLast((one) => isNode(one) && nodes.message(one) >= 0)
    const message = reply !== undefined && isNode(reply) ? nodes.message(reply) : -1
    const ofMessage = (one: OnPath): one is number =>
      isNode(one) && message >= 0 && nodes.message(one) === message
    const calls = new Set(out.filter(ofMessage).flatMap((one) => [...nodes.calls(one)]))
    const end = out.findLastIndex(
      (one) =>
        ofMessage(one) ||
        (isNode(one) && nodes.has(one, RESULT) && nodes.calls(one).some((id) => calls.has(id))),
    )
    out.splice(Math.max(before, end) + 1, 0, each)
  }
  return out
}
