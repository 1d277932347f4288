import type { Reading } from '#model'
import { createHash } from 'node:crypto'
import { ThroughlineError } from '#base'
import { readForward } from './forward.ts'
import { endOfLines, findNextLine, readOpenLine } from './line-end.ts'
import { type LineFormat } from './source.ts'
import { openTranscript, type Meter, type TranscriptFile } from './transcript-file.ts'

/**
 * Follows one transcript: what is appended comes out as whole entries, once. A file that was cut, replaced or
 * rewritten is told as `reset`, and then again from its beginning. A last line that lacks its newline is told when it
 * can be read and nothing was written between two polls.
 */
export interface Follower {
  /** What happened since the last call. Nothing is read but what is new, and two guards of 4 KB. */
  poll(): Promise<readonly FollowEvent[]>
  /** The bytes after the last whole line: being written, or torn. */
  readonly tail: number
  readonly offset: number
}

export type FollowEvent =
  | { readonly kind: 'readings'; readonly readings: readonly Reading[] }
  /** Everything told so far is void. */
  | { readonly kind: 'reset'; readonly reason: 'truncated' | 'replaced' | 'rewritten' }
  /** The file is not there. It may come back, as a `reset`. */
  | { readonly kind: 'gone' }

export interface FollowOptions {
  /** Where to begin: the beginning of a line. Default: the beginning of the file. */
  readonly from?: number
  readonly meter?: Meter
}

const GUARD = 4096

interface Known {
  readonly identity: string
  readonly size: number
  readonly modifiedMs: number
  /** Hashes of what stood at the beginning and right before the offset. */
  readonly head: string
  readonly tail: string
}

export function createFollower(path: string, format: LineFormat, options: FollowOptions = {}): Follower {
  let offset = options.from ?? 0
  let size = offset
  let known: Known | undefined
  let gone = false

  async function poll(): Promise<readonly FollowEvent[]> {
    const file = openIfThere(path, options.meter)
    if (file === undefined) {
      const news: FollowEvent[] = gone || known === undefined ? [] : [{ kind: 'gone' }]
      gone = true
      return news
    }
    try {
      return await readNews(file)
    } finally {
      file.close()
    }
  }

  async function readNews(file: TranscriptFile): Promise<readonly FollowEvent[]> {
    const events: FollowEvent[] = []
    const reason = known === undefined ? undefined : await resetReason(file, known, offset)
    if (reason !== undefined || (gone && known !== undefined)) {
      events.push({ kind: 'reset', reason: reason ?? 'replaced' })
      offset = 0
    }
    gone = false
    const isQuiet = events.length === 0 && known?.size === file.size && known.modifiedMs === file.modifiedMs
    const readings = isQuiet ? await readLastLine(file) : await readWholeLines(file)
    if (readings.length > 0) events.push({ kind: 'readings', readings })
    if (!isQuiet || readings.length > 0) known = await lookAt(file, offset)
    size = file.size
    return events
  }

  /** Up to the last newline. */
  async function readWholeLines(file: TranscriptFile): Promise<readonly Reading[]> {
    const readings: Reading[] = []
    const from = findNextLine(file, offset) ?? offset
    const to = Math.max(from, await endOfLines(file))
    for await (const batch of readForward(file, format, { from, to })) readings.push(...batch.readings)
    offset = to
    return readings
  }

  /** Nothing was written since the last poll: a last line that can be read is whole. */
  async function readLastLine(file: TranscriptFile): Promise<readonly Reading[]> {
    if (offset >= file.size) return []
    const { readings, isReadable } = await readOpenLine(file, format, offset)
    if (!isReadable) return []
    offset = file.size
    return readings
  }

  return {
    poll,
    get tail() {
      return size - offset
    },
    get offset() {
      return offset
    },
  }
}

function openIfThere(path: string, meter: Meter | undefined): TranscriptFile | undefined {
  try {
    return openTranscript(path, meter)
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'transcript-gone') return undefined
    throw error
  }
}

async function resetReason(
  file: TranscriptFile,
  known: Known,
  offset: number,
): Promise<'truncated' | 'replaced' | 'rewritten' | undefined> {
  if (file.identity !== known.identity) return 'replaced'
  if (file.size < offset) return 'truncated'
  // A line that was told without its newline went on, and is another one.
  if (findNextLine(file, offset) === undefined) return 'rewritten'
  // Looked at every time: clocks of file systems are too coarse to tell two writes within a few milliseconds apart.
  const now = await lookAt(file, offset)
  return now.head === known.head && now.tail === known.tail ? undefined : 'rewritten'
}

async function lookAt(file: TranscriptFile, offset: number): Promise<Known> {
  const headLength = Math.min(GUARD, offset)
  const head = await hashOf(file, 0, headLength)
  const tail = offset <= GUARD ? head : await hashOf(file, offset - GUARD, GUARD)
  return { identity: file.identity, size: file.size, modifiedMs: file.modifiedMs, head, tail }
}

async function hashOf(file: TranscriptFile, position: number, length: number): Promise<string> {
  const buffer = Buffer.allocUnsafe(length)
  const count = await file.read(buffer, length, position)
  return createHash('sha1').update(buffer.subarray(0, count)).digest('base64')
}
