import { createChain, type Entry, type SessionSummary } from '#model'
import {
  formatOf,
  openTranscript,
  readBackward,
  readForward,
  type LineFormat,
  type Meter,
  type TranscriptFile,
} from '#sources'
import type { ConversationOptions } from '#wire'
import { inSteps } from './in-steps.ts'
import { readEntries } from './session-entries.ts'

export interface Conversations {
  /** What the model sees now, oldest first. */
  conversation(session: SessionSummary, options?: ConversationOptions): Promise<readonly Entry[]>
  /** The same in parts, for whoever passes it on: of a large one no more is held than its tree and a part. */
  conversationParts(
    session: SessionSummary,
    options?: ConversationOptions,
  ): AsyncGenerator<readonly Entry[], void, undefined>
}

/** Up to this much a conversation is held whole. */
const LARGE = 64 * 1024 * 1024
const NO_BYTES = new Uint8Array()

export interface ConversationsOptions {
  readonly meter?: Meter | undefined
  /** How much is held whole, in bytes of the file. */
  readonly large?: number
}

export function createConversations({ meter, large = LARGE }: ConversationsOptions = {}): Conversations {
  return {
    conversation: async ({ path }, options = {}) => toShown(options, await readEntries(path)),
    async *conversationParts({ path }, options = {}) {
      if (!(await isLong(path, large))) {
        yield toShown(options, await readEntries(path))
        return
      }
      // Who asked sees that it has begun.
      yield []
      const file = openTranscript(path, meter)
      try {
        for await (const part of readParts(file, formatOf(path))) yield toShown(options, part)
      } finally {
        file.close()
      }
    },
  }
}

function toShown({ raw = true }: ConversationOptions, entries: readonly Entry[]): readonly Entry[] {
  return raw ? entries : entries.map((entry) => ({ ...entry, raw: NO_BYTES }))
}

/** Whether more than can be held has been said since the last compaction. */
async function isLong(path: string, large: number): Promise<boolean> {
  const file = openTranscript(path)
  const format = formatOf(path)
  const { linkMarks, settle } = format
  try {
    // What only the order of all of them tells needs all of them.
    if (file.size <= large || settle !== undefined) return false
    const options = linkMarks === undefined ? {} : { mentioning: linkMarks }
    for await (const { readings, offset } of readBackward(file, format, options)) {
      const isCompacted = readings.some(
        (reading) => reading.kind === 'entry' && reading.entry.kind === 'compaction',
      )
      if (isCompacted) return false
      if (file.size - offset > large) return true
    }
    return false
  } finally {
    file.close()
  }
}

/** Reads it twice: first its tree, which is ids and places alone, then what is on the path. */
async function* readParts(file: TranscriptFile, format: LineFormat): AsyncGenerator<readonly Entry[]> {
  const places = await findPath(file, format)
  for (let at = 0; at < places.length;) {
    const from = places[at] ?? 0
    const begun = at
    for await (const { readings } of readForward(file, format, { from })) {
      const part: Entry[] = []
      for (const reading of readings) {
        if (reading.kind !== 'entry' || reading.entry.place.offset !== places[at]) continue
        part.push(reading.entry)
        at++
      }
      if (part.length > 0) yield part
      // What comes next stands before what was read: it is looked for anew.
      const last = readings.at(-1)
      const next = places[at]
      if (next === undefined) return
      if (last?.kind === 'entry' && next <= last.entry.place.offset) break
    }
    // A file that changed meanwhile has no such line any more.
    if (at === begun) at++
  }
}

/** Where the entries of the path stand, oldest first. */
async function findPath(file: TranscriptFile, format: LineFormat): Promise<Float64Array> {
  const chain = createChain()
  for await (const { readings } of readForward(file, format))
    for (const reading of readings) if (reading.kind !== 'damage') chain.add(reading.entry)
  const { places } = await inSteps(chain.finishing())
  return places
}
