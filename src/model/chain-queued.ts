import type { Node } from './chain-links.ts'

/** Queued words hang from nothing: what they follow is told by where they stand in the file. */
export interface QueuedNode {
  readonly node: Node
  /** The last thing that was said before them, on whichever branch. Absent: they come first. */
  readonly after: Node | undefined
}

/** Finds what queued words follow. `main` is in file order. */
export function placeQueued(queued: readonly Node[], main: readonly Node[]): readonly QueuedNode[] {
  let next = 0
  return queued.map((node) => {
    while ((main[next]?.position ?? Infinity) < node.position) next++
    let after = main[next - 1]
    for (let at = next - 1; after?.progress === true; at--) after = main[at]
    while (after !== undefined && !after.spoken && !after.boundary) after = after.parent
    return { node, after }
  })
}

/** Whether queued words belong to what was said on these nodes. */
export function isAmong({ after }: QueuedNode, ids: ReadonlySet<string>): boolean {
  return after === undefined || ids.has(after.id)
}

/** Puts queued words in their places: never between the lines of a message, or between a call and its result. */
export function withQueued(path: readonly Node[], queued: readonly QueuedNode[]): readonly Node[] {
  const out = [...path]
  const first = out[0]?.boundary === true ? out[0] : undefined
  for (const { node, after } of queued) {
    const isOn = after === undefined ? first === undefined : out.includes(after)
    if (!isOn) continue
    const before = out.findLastIndex(({ position }) => position <= node.position)
    const reply = out.slice(0, before + 1).findLast(({ messageId }) => messageId !== undefined)
    const calls = new Set(
      out.flatMap(({ messageId, callIds }) => (messageId === reply?.messageId ? (callIds ?? []) : [])),
    )
    const end = out.findLastIndex(
      ({ messageId, answers }) =>
        (reply !== undefined && messageId === reply.messageId) || answers?.some((id) => calls.has(id)),
    )
    out.splice(Math.max(before, end) + 1, 0, node)
  }
  return out
}
