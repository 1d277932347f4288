import { shorten } from '#base'
import { isSpoken, textOf, type Entry, type Reading } from '#model'
import { findWrittenEnd } from '../zeros/written-end.ts'
import { isZero, ZERO_RUN } from '../zeros/zero-runs.ts'
import { lineReaderOf } from '../salvage.ts'
import type { TranscriptFile } from '../transcript-file.ts'
import { codexFormat } from './read-line.ts'

/** What both ends of a rollout tell. */
export interface Glance {
  /** The thread that the first line names. Of a fork it is another one. */
  readonly firstId: string | undefined
  readonly firstPrompt: string | undefined
  readonly createdAt: string | undefined
  readonly lastActivityAt: string | undefined
  readonly workdirs: readonly string[]
  readonly workdirsComplete: boolean
  readonly gitBranch: string | undefined
  readonly state: 'ok' | 'empty' | 'damaged'
}

/** The first line alone is over 20 KB: it holds the model's instructions. */
const HEAD = 64 * 1024
/** Where the first prompt is looked for. */
const HEAD_LIMIT = 4 * 1024 * 1024
const LINE_LIMIT = 16 * 1024 * 1024
const TAIL = 32 * 1024
const NEWLINE = 0x0a
/** A list needs the beginning of a prompt, and a prompt can be megabytes. */
const PROMPT_LENGTH = 1000

/** Looks at the beginning of a rollout, on to the first prompt, and at its end. Never at the rest of it. */
export function glance(file: TranscriptFile): Glance {
  const seen: Seen = {
    workdirs: new Set(),
    damaged: false,
    spoken: false,
    gitBranch: undefined,
    firstId: undefined,
  }
  const head = readHead(file, seen)
  const tail =
    head.end >= file.size ? { lastAt: head.lastAt, start: head.end } : readTail(file, head.end, seen)
  const isComplete = tail.start <= head.end
  const isSilent = !seen.spoken && isComplete
  return {
    firstId: seen.firstId,
    firstPrompt: head.firstPrompt,
    createdAt: head.firstAt,
    lastActivityAt: tail.lastAt ?? head.lastAt,
    workdirs: [...seen.workdirs],
    workdirsComplete: isComplete,
    gitBranch: seen.gitBranch,
    state: seen.damaged ? 'damaged' : isSilent ? 'empty' : 'ok',
  }
}

interface Seen {
  readonly workdirs: Set<string>
  damaged: boolean
  spoken: boolean
  gitBranch: string | undefined
  firstId: string | undefined
}

interface HeadSeen {
  readonly firstPrompt: string | undefined
  readonly firstAt: string | undefined
  readonly lastAt: string | undefined
  readonly end: number
}

function readHead(file: TranscriptFile, seen: Seen): HeadSeen {
  let firstPrompt: string | undefined
  let firstAt: string | undefined
  let lastAt: string | undefined
  let buffer = Buffer.allocUnsafe(Math.min(HEAD, Math.max(file.size, 1)))
  let filled = 0
  let start = 0
  while (filled < file.size && start < HEAD_LIMIT && firstPrompt === undefined) {
    if (filled === buffer.length) {
      if (buffer.length >= LINE_LIMIT) break
      const larger = Buffer.allocUnsafe(Math.min(buffer.length * 4, LINE_LIMIT))
      buffer.copy(larger)
      buffer = larger
    }
    const count = file.readNow(buffer.subarray(filled), Math.min(buffer.length, file.size) - filled, filled)
    if (count === 0) break
    filled += count
    if (filled - start >= ZERO_RUN && isZero(buffer, start, filled)) {
      seen.damaged = true
      break
    }
    while (start < filled && firstPrompt === undefined) {
      const newline = buffer.indexOf(NEWLINE, start)
      const isWhole = newline >= 0 && newline < filled
      if (!isWhole && filled < file.size) break
      const end = isWhole ? newline : filled
      for (const entry of readLine(buffer, start, end, seen)) {
        firstAt ??= entry.at
        lastAt = entry.at ?? lastAt
        if (entry.kind === 'prompt' && entry.origin !== 'system') firstPrompt ??= promptText(entry)
      }
      start = end + 1
    }
  }
  return { firstPrompt, firstAt, lastAt, end: Math.min(start, file.size) }
}

/** From the last line back to the first that says when it was, and on through what the window holds. */
function readTail(
  file: TranscriptFile,
  from: number,
  seen: Seen,
): { readonly lastAt: string | undefined; readonly start: number } {
  const written = Math.max(from, findWrittenEnd(file))
  if (written < file.size) seen.damaged = true
  for (let size = TAIL; ; size *= 8) {
    const begin = Math.max(from, written - size)
    const bytes = Buffer.allocUnsafe(written - begin)
    const count = file.readNow(bytes, bytes.length, begin)
    // The window begins in the middle of a line, unless it begins where the head ended.
    const first = begin === from ? 0 : bytes.indexOf(NEWLINE) + 1
    let lastAt: string | undefined
    for (let start = first; start < count;) {
      const newline = bytes.indexOf(NEWLINE, start)
      const end = newline < 0 || newline > count ? count : newline
      for (const entry of readLine(bytes, start, end, seen)) lastAt = entry.at ?? lastAt
      start = end + 1
    }
    if (lastAt !== undefined || begin === from || size * 8 > LINE_LIMIT)
      return { lastAt, start: begin + first }
  }
}

function readLine(bytes: Buffer, from: number, to: number, seen: Seen): readonly Entry[] {
  const readings: Reading[] = []
  if (to > from) lineReaderOf(codexFormat).readLine(bytes, { from, to, offset: from }, readings)
  return readings.flatMap((reading) => {
    if (reading.kind === 'damage') {
      seen.damaged = true
      return []
    }
    const { entry } = reading
    if (entry.cwd !== undefined) seen.workdirs.add(entry.cwd)
    seen.gitBranch ??= entry.gitBranch
    seen.firstId ??= entry.sessionId
    seen.spoken ||= isSpoken(entry) && (entry.kind !== 'reply' || entry.blocks.length > 0)
    return [entry]
  })
}

function promptText(entry: Entry & { kind: 'prompt' }): string {
  const text = textOf(entry.blocks)
  return text === ''
    ? `[${entry.blocks.map((block) => block.kind).join(', ')}]`
    : shorten(text, PROMPT_LENGTH)
}
