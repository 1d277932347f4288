import type { Block } from './block.ts'
import { grown } from './grown.ts'
import { isSpoken, type Entry, type Link } from './entry.ts'
import { createIdTable, type IdTable } from './id-table.ts'

/**
 * What is kept of the entries of a tree: never their blocks or their raw lines. A node is a number, its place among
 * them; ids are numbers of a table. What a node has is in columns, about 45 bytes of it and of its id 25.
 */
export interface ChainNodes {
  readonly count: number
  /** Of entries, of messages and of calls. */
  readonly ids: IdTable
  readonly messageIds: IdTable
  readonly callIds: IdTable
  add(entry: Entry, link: Link): void
  id(node: number): number
  /** The id that its line names: `NO_PARENT` when it says that there is none, `UNNAMED` when it says nothing. */
  writtenParent(node: number): number
  has(node: number, trait: number): boolean
  /** When it was said, in milliseconds. */
  at(node: number): number
  /** Where its line begins. */
  offset(node: number): number
  /** Of a line of a message: the number of the message; of others -1. */
  message(node: number): number
  /** Of a line of a message: the numbers of its calls; of a result: those of the calls that it answers. */
  calls(node: number): Int32Array
  /** Of a result: the id of the entry that made the call, or -1. */
  callEntry(node: number): number
  /** What a compaction boundary continues, or -1. */
  continues(node: number): number
  takesBack(node: number): Link['takesBack']
  /** The last node with an id, or -1. */
  nodeOf(id: number): number
}

/** A prompt, a reply, a result, or something else in a user's or an agent's place. */
export const SPOKEN = 1
export const SIDECHAIN = 2
export const PROGRESS = 4
export const BOUNDARY = 8
/** Somebody's words to the agent: what agents count as a turn. */
export const PROMPT = 16
/** A prompt, reply or result, or a compaction. */
export const SAID = 32
export const RESULT = 64

export const UNNAMED = -1
export const NO_PARENT = -2

export function createChainNodes(): ChainNodes {
  const ids = createIdTable()
  const messageIds = createIdTable()
  const callIds = createIdTable()
  let count = 0
  let own = new Int32Array(64)
  let parents = new Int32Array(64)
  let traits = new Uint8Array(64)
  let times = new Float64Array(64)
  let offsets = new Float64Array(64)
  let messages = new Int32Array(64)
  /** Where the calls of a node are in their list, counted from 1. */
  let lists = new Int32Array(64)
  /** Of each node with calls: how many, their numbers, and the id of the entry that made the call. */
  let listed = new Int32Array(64)
  let listedCount = 0
  /** By id: its last node, counted from 1. */
  let lastOf = new Int32Array(64)
  const continued = new Map<number, number>()
  const takingBack = new Map<number, NonNullable<Link['takesBack']>>()

  const last = { id: '', number: -1 }

  function makeRoom(): void {
    if (count < own.length) return
    own = grown(own)
    parents = grown(parents)
    traits = grown(traits)
    times = grown(times)
    offsets = grown(offsets)
    messages = grown(messages)
    lists = grown(lists)
  }

  function addParent({ parentId }: Link): number {
    if (parentId === undefined) return UNNAMED
    if (parentId === null) return NO_PARENT
    // Most lines hang from the one before them.
    return parentId === last.id ? last.number : ids.add(parentId)
  }

  function list(value: number): void {
    if (listedCount === listed.length) listed = grown(listed)
    listed[listedCount++] = value
  }

  function addCalls(calls: readonly string[], entryId: string | undefined): number {
    if (calls.length === 0 && entryId === undefined) return 0
    const place = listedCount + 1
    list(calls.length)
    for (const id of calls) list(callIds.add(id))
    list(entryId === undefined ? -1 : ids.add(entryId))
    return place
  }

  function listsOf(entry: Entry): number {
    if (entry.kind === 'reply') return addCalls(callsOf(entry.blocks), undefined)
    return entry.kind === 'result' ? addCalls(answersOf(entry.blocks), entry.callEntryId) : 0
  }

  return {
    get count() {
      return count
    },
    ids,
    messageIds,
    callIds,
    add(entry, link) {
      makeRoom()
      const id = ids.add(entry.id)
      own[count] = id
      parents[count] = addParent(link)
      last.id = entry.id
      last.number = id
      traits[count] = traitsOf(entry, link)
      times[count] = entry.at === undefined ? Number.NEGATIVE_INFINITY : toTime(entry.at)
      offsets[count] = entry.place.offset
      const messageId = entry.kind === 'reply' ? entry.messageId : undefined
      messages[count] = messageId === undefined ? -1 : messageIds.add(messageId)
      lists[count] = listsOf(entry)
      if (link.logicalParentId !== undefined) continued.set(count, ids.add(link.logicalParentId))
      if (link.takesBack !== undefined) takingBack.set(count, link.takesBack)
      count++
      // A line written twice counts where it was written last.
      while (id >= lastOf.length) lastOf = grown(lastOf)
      lastOf[id] = count
    },
    id: (node) => own[node] ?? -1,
    writtenParent: (node) => parents[node] ?? UNNAMED,
    has: (node, trait) => ((traits[node] ?? 0) & trait) !== 0,
    at: (node) => times[node] ?? Number.NEGATIVE_INFINITY,
    offset: (node) => offsets[node] ?? 0,
    message: (node) => messages[node] ?? -1,
    calls(node) {
      const place = lists[node] ?? 0
      return place === 0 ? NO_CALLS : listed.subarray(place, place + (listed[place - 1] ?? 0))
    },
    callEntry(node) {
      const place = lists[node] ?? 0
      return place === 0 ? -1 : (listed[place + (listed[place - 1] ?? 0)] ?? -1)
    },
    continues: (node) => continued.get(node) ?? -1,
    takesBack: (node) => takingBack.get(node),
    nodeOf: (id) => (lastOf[id] ?? 0) - 1,
  }
}

const NO_CALLS = new Int32Array(0)

function traitsOf(entry: Entry, link: Link): number {
  const isSpokenHere =
    entry.type === 'user' ||
    entry.type === 'assistant' ||
    (entry.kind === 'prompt' && entry.midTurn) ||
    isSaidInOrder(entry, link)
  return (
    (isSpokenHere ? SPOKEN : 0) |
    (link.sidechain ? SIDECHAIN : 0) |
    (entry.type === 'progress' ? PROGRESS : 0) |
    (entry.kind === 'compaction' ? BOUNDARY | SAID : 0) |
    (entry.kind === 'prompt' ? PROMPT : 0) |
    (isSpoken(entry) ? SAID : 0) |
    (entry.kind === 'result' ? RESULT : 0)
  )
}

/** Where no line names a parent, whatever the model sees is said, and so is what a compaction put in its place. */
function isSaidInOrder(entry: Entry, link: Link): boolean {
  if (entry.kind === 'compaction') return entry.history !== undefined
  return link.parentId === undefined && entry.kind !== 'record' && entry.kind !== 'context'
}

function callsOf(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block) => (block.kind === 'tool-use' ? [block.id] : []))
}

function answersOf(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block) => (block.kind === 'tool-result' ? [block.toolUseId] : []))
}

function toTime(at: string): number {
  const time = Date.parse(at)
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time
}
