import { string } from '#base'
import { textOf } from './block.ts'
import type { DelegatedEntry, Entry, ReplyEntry } from './entry.ts'
import type { Message, ReplyMessage } from './message.ts'

/** Puts entries together into messages. */
type ToMessages = (entries: readonly Entry[]) => readonly Message[]

/** Lines of subagents whose calls are not among the entries. */
export interface WorkDraft {
  readonly kind: 'work'
  readonly entries: DelegatedEntry[]
}

/** What can hold the lines of subagents: a reply that made calls. */
interface Caller {
  readonly entries: Entry[]
}

/** Which call started a subagent whose lines do not name it. */
export interface StarterTracker {
  /** The line with its call, where the calls and lines before it tell. */
  add(entry: DelegatedEntry): DelegatedEntry
  /** Calls that may start one. */
  note(entry: ReplyEntry): void
}

/** A subagent's first line repeats the prompt of the call; each further line hangs from another one of its own. */
export function createStarterTracker(): StarterTracker {
  const waiting = new Map<string, string[]>()
  const callOf = new Map<string, string>()
  return {
    note({ blocks }) {
      for (const block of blocks) {
        const prompt = block.kind === 'tool-use' ? string(block.input, 'prompt') : undefined
        if (block.kind !== 'tool-use' || prompt === undefined) continue
        const key = prompt.trim()
        waiting.set(key, [...(waiting.get(key) ?? []), block.id])
      }
    },
    add(entry) {
      if (entry.callId !== undefined) return entry
      const { work, link } = entry
      const known = callOf.get(link?.parentId ?? '')
      const callId =
        known ?? (work.kind === 'prompt' ? waiting.get(textOf(work.blocks).trim())?.shift() : undefined)
      if (callId === undefined) return entry
      callOf.set(entry.id, callId)
      return { ...entry, callId }
    },
  }
}

/** Gives a line to the reply that started its subagent. What is left over stands where it was written. */
export function addWork<Reply extends Caller>(
  entry: DelegatedEntry,
  drafts: (WorkDraft | { readonly kind: 'message' | 'reply' | 'aside' })[],
  calls: Map<string, Reply>,
): void {
  const reply = calls.get(entry.callId ?? '')
  const last = drafts.at(-1)
  if (reply !== undefined) {
    reply.entries.push(entry)
    // A subagent may have subagents.
    for (const id of callsIn(entry)) if (!calls.has(id)) calls.set(id, reply)
  } else if (last?.kind === 'work') last.entries.push(entry)
  else drafts.push({ kind: 'work', entries: [entry] })
}

/** The reply, with what subagents did for its calls. What their own subagents did stands among it. */
export function withWork(reply: ReplyMessage, toMessages: ToMessages): ReplyMessage {
  const lines = reply.entries.filter((entry) => entry.kind === 'delegated')
  if (lines.length === 0) return reply
  /** For every call, the call of the reply that led to it. */
  const roots = new Map(reply.calls.map(({ use }) => [use.id, use.id]))
  const work = new Map<string, Entry[]>()
  for (const line of lines) {
    const root = roots.get(line.callId ?? '') ?? ''
    for (const id of callsIn(line)) if (!roots.has(id)) roots.set(id, root)
    const known = work.get(root)
    if (known === undefined) work.set(root, [line.work])
    else known.push(line.work)
  }
  const calls = reply.calls.map((call) => {
    const entries = work.get(call.use.id)
    return entries === undefined ? call : { ...call, work: toMessages(entries) }
  })
  return { ...reply, calls }
}

function callsIn({ work }: DelegatedEntry): readonly string[] {
  return work.kind === 'reply'
    ? work.blocks.flatMap((block) => (block.kind === 'tool-use' ? [block.id] : []))
    : []
}
