import { string, type JsonObject } from '#base'
import { toTranscribedLine, type TranscribedLine } from '../transcribed-line.ts'
import type { GeminiMessage } from './operations.ts'

/** What was told of a message. */
export interface Told {
  /** When it was said: what it says of itself first. */
  readonly at: string | undefined
  /** Texts, thoughts and other pieces that stand in a line already. */
  readonly pieces: Set<string>
  text: string
  usage: JsonObject | undefined
  model: string | undefined
  lines: number
}

/** A line of a message, without its place. */
export type Saying = Omit<TranscribedLine, 'sessionId' | 'uuid' | 'parentUuid'>

/** The lines of a transcription, and how the conversation stands that they tell of. */
export interface Thread {
  /** The conversation as Gemini has it now: ids of messages. */
  order: string[]
  /** The lines since this was last asked. */
  drain(): readonly string[]
  /** What was told of a message so far. */
  tellOf(message: GeminiMessage): Told
  hasTold(id: string): boolean
  /** Whether this piece of a message stands in no line yet. From now on it does. */
  isNew(message: GeminiMessage, piece: string): boolean
  /** Adds a line to a message, and gives its id. */
  say(message: GeminiMessage, line: Saying): string
  /** Adds a line that stands before a message and is none itself: what comes after hangs from it. */
  sayBefore(message: GeminiMessage, inserted: GeminiMessage, line: Saying): void
  /** Adds a line that hangs nowhere in the conversation. */
  note(line: Omit<TranscribedLine, 'sessionId'>): void
  /** The last line of the conversation as it stands. */
  end(): string | undefined
  /** A line from which everything hangs that is said from now on, whatever stands before it in the order. */
  cut(uuid: string, line: Saying): void
  /** Damage, as it is: whoever reads the transcription finds the same. */
  keep(text: string): void
}

/** Begins a transcription. */
export function createThread(session: { readonly id: string; readonly cwd: string | undefined }): Thread {
  const told = new Map<string, Told>()
  /** The last line of each message. */
  const tails = new Map<string, string>()
  let boundary: string | null = null
  let out: string[] = []

  function push(line: Omit<TranscribedLine, 'sessionId'>): void {
    out.push(toTranscribedLine({ provider: 'gemini', cwd: session.cwd, sessionId: session.id, ...line }))
  }

  function tellOf({ id, fields }: GeminiMessage): Told {
    const known = told.get(id)
    if (known !== undefined) return known
    const at = string(fields, 'timestamp')
    const fresh = { at, pieces: new Set<string>(), text: '', usage: undefined, model: undefined, lines: 0 }
    told.set(id, fresh)
    return fresh
  }

  /** The last message before this one that has lines; with no message, of all. */
  function findBefore(id?: string): string | undefined {
    const at = id === undefined ? -1 : thread.order.lastIndexOf(id)
    for (let index = (at < 0 ? thread.order.length : at) - 1; index >= 0; index--) {
      const before = thread.order[index]
      if (before !== undefined && tails.has(before)) return before
    }
    return undefined
  }

  function tailOf(id: string | undefined): string | null {
    return (id === undefined ? undefined : tails.get(id)) ?? boundary
  }

  function toUuid(message: GeminiMessage): string {
    const tale = tellOf(message)
    tale.lines += 1
    return tale.lines === 1 ? message.id : `${message.id}:${String(tale.lines - 1)}`
  }

  const thread: Thread = {
    order: [],
    drain() {
      const drained = out
      out = []
      return drained
    },
    tellOf,
    hasTold: (id) => told.has(id),
    isNew(message, piece) {
      const { pieces } = tellOf(message)
      if (pieces.has(piece)) return false
      pieces.add(piece)
      return true
    },
    say(message, line) {
      const isFirst = tellOf(message).lines === 0
      // Something more of a message that others follow comes at the end: nothing is put in between.
      const holder = isFirst ? message.id : (findBefore() ?? message.id)
      const parentUuid = isFirst ? tailOf(findBefore(message.id)) : tailOf(holder)
      const uuid = toUuid(message)
      tails.set(holder, uuid)
      push({ timestamp: tellOf(message).at, ...line, uuid, parentUuid })
      return uuid
    },
    sayBefore(message, inserted, line) {
      const before = findBefore(message.id)
      const uuid = toUuid(inserted)
      push({ timestamp: tellOf(inserted).at, ...line, uuid, parentUuid: tailOf(before) })
      tails.set(before ?? inserted.id, uuid)
    },
    note: push,
    end: () => tailOf(findBefore()) ?? undefined,
    cut(uuid, line) {
      boundary = uuid
      for (const id of thread.order) tails.delete(id)
      push({ ...line, uuid, parentUuid: null })
    },
    keep: (text) => out.push(text),
  }
  return thread
}
