import { RESULT, type ChainNodes } from './chain-nodes.ts'
import type { Links } from './chain-links.ts'
import type { Steps } from './steps.ts'

/** Which lines make up each message, and which results answer its calls. */
export interface Messages {
  readonly links: Links
  /** By message: its first line, and its first result. By node: the next one of the same message. */
  readonly firstLine: Int32Array
  readonly firstResult: Int32Array
  readonly next: Int32Array
  /** Which round of `withWholeMessages` met a node and a call last; by message, the last line that was met. */
  readonly metNode: Int32Array
  readonly metCall: Int32Array
  readonly lastLine: Int32Array
  round: number
}

const fresh = (length: number): Int32Array => new Int32Array(length).fill(-1)

/** Made once: a session of many compactions asks for every stretch between them. */
export function* indexMessages(links: Links): Steps<Messages> {
  const { nodes, isMain } = links
  /** For each call: the message it belongs to. */
  const owners = fresh(nodes.callIds.size)
  const firstLine = fresh(nodes.messageIds.size)
  const firstResult = fresh(nodes.messageIds.size)
  const next = fresh(nodes.count)
  for (let node = 0; node < nodes.count; node++) {
    const message = nodes.message(node)
    if (isMain[node] !== 1 || message < 0) continue
    for (const call of nodes.calls(node)) owners[call] = message
  }
  yield
  const messageOf = (id: number): number => {
    const node = nodes.nodeOf(id)
    return node >= 0 && isMain[node] === 1 ? nodes.message(node) : -1
  }
  const ownerOf = (node: number): number => {
    for (const id of [links.parentId(node), nodes.callEntry(node)]) {
      const message = messageOf(id)
      if (message >= 0) return message
    }
    const call = nodes.calls(node).find((each) => (owners[each] ?? -1) >= 0)
    return call === undefined ? -1 : (owners[call] ?? -1)
  }
  // From the end, so that each list is in the order of the file.
  for (let node = nodes.count - 1; node >= 0; node--) {
    if (isMain[node] !== 1) continue
    const isResult = nodes.has(node, RESULT)
    const message = isResult ? ownerOf(node) : nodes.message(node)
    if (message < 0) continue
    const first = isResult ? firstResult : firstLine
    next[node] = first[message] ?? -1
    first[message] = node
  }
  const met = {
    metNode: fresh(nodes.count),
    metCall: fresh(nodes.callIds.size),
    lastLine: fresh(nodes.messageIds.size),
  }
  return { links, firstLine, firstResult, next, ...met, round: 0 }
}

/** Adds the other lines of each message on the path, and the results of all its calls, after its last line. */
export function withWholeMessages(path: Int32Array, messages: Messages): Int32Array {
  const { links, firstLine, firstResult, next, metNode, metCall, lastLine } = messages
  const { nodes } = links
  const round = messages.round++
  for (const node of path) {
    metNode[node] = round
    const message = nodes.message(node)
    if (message >= 0) lastLine[message] = node
    else if (nodes.has(node, RESULT)) for (const call of nodes.calls(node)) metCall[call] = round
  }
  const added = new Map<number, readonly number[]>()
  let more = 0
  for (const node of path) {
    const message = nodes.message(node)
    if (message < 0 || lastLine[message] !== node) continue
    const missing: number[] = []
    for (let line = firstLine[message] ?? -1; line >= 0; line = next[line] ?? -1)
      if (metNode[line] !== round) missing.push(line)
    for (let result = firstResult[message] ?? -1; result >= 0; result = next[result] ?? -1) {
      // A second result for a call that is answered already is on another branch.
      const calls = nodes.calls(result)
      if (metNode[result] === round || calls.every((call) => metCall[call] === round)) continue
      missing.push(result)
      for (const call of calls) metCall[call] = round
    }
    if (missing.length === 0) continue
    added.set(node, missing.toSorted(linesBeforeResults(nodes)))
    more += missing.length
  }
  if (more === 0) return path
  const whole = new Int32Array(path.length + more)
  let length = 0
  for (const node of path) {
    whole[length++] = node
    for (const each of added.get(node) ?? []) whole[length++] = each
  }
  return whole
}

function linesBeforeResults(nodes: ChainNodes): (a: number, b: number) => number {
  return (a, b) => {
    const byKind = Number(nodes.has(a, RESULT)) - Number(nodes.has(b, RESULT))
    if (byKind !== 0) return byKind
    const [atA, atB] = [nodes.at(a), nodes.at(b)]
    return atA < atB ? -1 : atA > atB ? 1 : a - b
  }
}
