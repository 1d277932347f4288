import { field, list, number, string } from '#base'

/** A value as it stands in the journal: its type for LangGraph, and its text. */
type SavedValue = readonly [string, string]

export interface SavedCheckpoint {
  readonly thread: string
  readonly ns: string
  readonly id: string
  readonly parent?: string | undefined
  readonly checkpoint: SavedValue
  readonly metadata: SavedValue
}

export interface SavedWrite {
  readonly task: string
  readonly channel: string
  readonly value: SavedValue
}

/** The lines of a journal of checkpoints, folded. */
export interface Checkpoints {
  /** Takes a line. What is none of ours changes nothing. */
  take(line: unknown): void
  /** The newest first, of one thread and namespace or of all. */
  all(thread: string | undefined, ns: string | undefined): readonly SavedCheckpoint[]
  find(thread: string, ns: string, id: string): SavedCheckpoint | undefined
  writesOf(thread: string, ns: string, id: string): readonly SavedWrite[]
  /** What a channel held in one of its versions. */
  findValue(of: ChannelVersion): SavedValue | undefined
}

interface ChannelVersion {
  readonly thread: string
  readonly ns: string
  readonly channel: string
  readonly version: unknown
}

interface Thread {
  /** By namespace, then by id. */
  readonly saved: Map<string, Map<string, SavedCheckpoint>>
  /** By namespace and id, then by task and index. */
  readonly writes: Map<string, Map<string, SavedWrite>>
  /** By namespace, channel and version. */
  readonly values: Map<string, SavedValue>
}

export function createCheckpoints(): Checkpoints {
  const threads = new Map<string, Thread>()

  function threadOf(id: string): Thread {
    const thread = threads.get(id) ?? { saved: new Map(), writes: new Map(), values: new Map() }
    threads.set(id, thread)
    return thread
  }

  function takeCheckpoint(line: unknown, at: Place): void {
    const checkpoint = readValue(field(line, 'checkpoint'))
    const metadata = readValue(field(line, 'metadata'))
    if (checkpoint === undefined || metadata === undefined) return
    const { saved, values } = threadOf(at.thread)
    for (const each of list(line, 'values')) {
      const value = readValue(field(each, 'value'))
      const key = JSON.stringify([at.ns, string(each, 'channel'), field(each, 'version')])
      if (value !== undefined) values.set(key, value)
    }
    const inSpace = saved.get(at.ns) ?? new Map<string, SavedCheckpoint>()
    saved.set(at.ns, inSpace)
    inSpace.set(at.id, { ...at, parent: string(line, 'parent'), checkpoint, metadata })
  }

  function takeWrites(line: unknown, at: Place): void {
    const task = string(line, 'task') ?? ''
    const { writes } = threadOf(at.thread)
    const key = JSON.stringify([at.ns, at.id])
    const known = writes.get(key) ?? new Map<string, SavedWrite>()
    const before = new Set(known.keys())
    writes.set(key, known)
    for (const write of list(line, 'writes')) {
      const index = number(write, 'index') ?? 0
      const channel = string(write, 'channel')
      const value = readValue(field(write, 'value'))
      const name = JSON.stringify([task, index])
      // A task that is run again writes what it wrote before.
      if (channel === undefined || value === undefined || (index >= 0 && before.has(name))) continue
      known.set(name, { task, channel, value })
    }
  }

  return {
    take(line) {
      const thread = string(line, 'thread')
      if (thread === undefined) return
      const at = { thread, ns: string(line, 'ns') ?? '', id: string(line, 'id') ?? '' }
      switch (string(line, 'kind')) {
        case 'checkpoint':
          return takeCheckpoint(line, at)
        case 'writes':
          return takeWrites(line, at)
        case 'deleted':
          threads.delete(thread)
          return undefined
        default:
          return undefined
      }
    },
    all(wanted, ns) {
      const ids = wanted === undefined ? [...threads.keys()] : [wanted]
      return ids.flatMap((thread) =>
        [...(threads.get(thread)?.saved ?? [])].flatMap(([space, saved]) =>
          ns !== undefined && space !== ns
            ? []
            : [...saved.values()].toSorted((one, other) => (one.id < other.id ? 1 : -1)),
        ),
      )
    },
    findValue: ({ thread, ns, channel, version }) =>
      threads.get(thread)?.values.get(JSON.stringify([ns, channel, version])),
    find: (thread, ns, id) => threads.get(thread)?.saved.get(ns)?.get(id),
    writesOf: (thread, ns, id) => [
      ...(threads
        .get(thread)
        ?.writes.get(JSON.stringify([ns, id]))
        ?.values() ?? []),
    ],
  }
}

interface Place {
  readonly thread: string
  readonly ns: string
  readonly id: string
}

function readValue(value: unknown): SavedValue | undefined {
  const [type, data] = list({ value }, 'value')
  return typeof type === 'string' && typeof data === 'string' ? [type, data] : undefined
}
