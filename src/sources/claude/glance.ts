import { shorten } from '#base'
import { textOf, type Entry, type Reading } from '#model'
import { ObjectScanner } from '../object-scanner.ts'
import { indexWithin, lineReaderOf, skipBlank } from '../salvage.ts'
import type { LineFormat, RecordReader } from '../source.ts'
import type { TranscriptFile } from '../transcript-file.ts'
import { glimpse, glimpseEnd } from './glimpse.ts'
import { findWrittenEnd } from '../zeros/written-end.ts'
import { isZero, ZERO_RUN } from '../zeros/zero-runs.ts'
import { claudeFormat } from './read-line.ts'
import { WorkdirFinder } from './workdirs.ts'

/** What both ends of a transcript tell. */
export interface Glance {
  readonly firstPrompt: string | undefined
  readonly customTitle: string | undefined
  readonly agentTitle: string | undefined
  readonly gitBranch: string | undefined
  readonly createdAt: string | undefined
  readonly lastActivityAt: string | undefined
  readonly workdirs: readonly string[]
  readonly workdirsComplete: boolean
  readonly state: 'ok' | 'empty' | 'damaged'
}

const HEAD = 8 * 1024
const TAIL = 32 * 1024
/** How far into the file the first prompt is looked for. */
const HEAD_LIMIT = 1024 * 1024
/** The longest line at either end that a list waits for. */
const LINE_LIMIT = 32 * 1024 * 1024

/** Looks at the beginning and the end of transcripts, one after another, with the same two buffers. */
export function createGlance(format: LineFormat = claudeFormat): (file: TranscriptFile) => Glance {
  const scanner = new ObjectScanner(format.keys, format.inner)
  const records = format.createReader(scanner)
  const buffers = { head: Buffer.allocUnsafe(HEAD), tail: Buffer.allocUnsafe(TAIL) }

  return (file) => {
    const finder = new WorkdirFinder()
    const head = readHead(file, { scanner, records, finder, path: file.path, buffer: buffers.head })
    const tail = readTail(file, finder, buffers.tail)
    const complete = head.end >= tail.start
    const createdAt = head.createdAt ?? tail.lastActivityAt
    const lastActivityAt = tail.lastActivityAt ?? head.createdAt
    return {
      firstPrompt: head.firstPrompt,
      customTitle: tail.customTitle ?? head.customTitle,
      agentTitle: tail.agentTitle,
      gitBranch: tail.gitBranch ?? head.gitBranch,
      createdAt,
      lastActivityAt,
      workdirs: [...finder.found],
      workdirsComplete: complete,
      state: head.damaged || tail.damaged ? 'damaged' : head.spoken || !complete ? 'ok' : 'empty',
    }
  }
}

interface Look {
  readonly scanner: ObjectScanner
  readonly records: RecordReader
  readonly finder: WorkdirFinder
  readonly path: string
  readonly buffer: Buffer
}

interface Head {
  firstPrompt: string | undefined
  customTitle: string | undefined
  gitBranch: string | undefined
  createdAt: string | undefined
  damaged: boolean
  /** Whether anybody said anything in what was looked at. */
  spoken: boolean
  /** How far the file was looked at. */
  end: number
}

function readHead(file: TranscriptFile, look: Look): Head {
  const head: Head = {
    firstPrompt: undefined,
    customTitle: undefined,
    gitBranch: undefined,
    createdAt: undefined,
    damaged: false,
    spoken: false,
    end: 0,
  }
  let command: string | undefined
  /** A command that is about the client, such as `/clear`: the last choice for a name. */
  let housekeeping: string | undefined
  let { buffer } = look
  let filled = 0
  let start = 0
  while (filled < file.size && start < HEAD_LIMIT && head.firstPrompt === undefined) {
    if (filled === buffer.length) {
      if (buffer.length >= LINE_LIMIT) break
      buffer = grown(buffer)
    }
    const count = file.readNow(buffer.subarray(filled), Math.min(buffer.length, file.size) - filled, filled)
    if (count === 0) break
    filled += count
    if (filled - start >= ZERO_RUN && isZero(buffer, start, filled)) {
      head.damaged = true
      break
    }
    for (;;) {
      const newline = buffer.indexOf(NEWLINE, start)
      const atEnd = filled >= file.size
      const end = newline >= 0 && newline < filled ? newline : atEnd ? filled : -1
      if (end < 0 || start >= filled) break
      const entry = readHeadLine(buffer, start, end, look, head)
      // Of a fork the first line is what was typed to begin it, and what was said before follows.
      if (entry?.kind === 'prompt' && entry.origin !== 'system' && entry.queued !== true)
        head.firstPrompt ??= promptText(entry)
      if (entry?.kind === 'command' && entry.queued !== true) {
        if (HOUSEKEEPING.has(entry.command ?? '')) housekeeping ??= commandText(entry)
        else command ??= commandText(entry)
      }
      start = end + 1
      if (head.firstPrompt !== undefined) break
    }
  }
  head.firstPrompt ??= command ?? housekeeping
  head.end = Math.min(start, file.size)
  return head
}

/** Reads a line near the beginning, as far as it may tell something new. */
function readHeadLine(bytes: Buffer, from: number, to: number, look: Look, head: Head): Entry | undefined {
  if (to <= from) return undefined
  const { finder, scanner, records, path } = look
  const start = from === 0 && bytes[0] === 0xef ? 3 : from
  const line = glimpse(bytes, start, to)
  if (line === undefined) {
    const { saved, isDamaged } = readDamagedLine(bytes, from, to)
    head.damaged ||= isDamaged
    for (const { at, gitBranch, cwd } of saved) {
      head.createdAt ??= at
      head.gitBranch ??= gitBranch
      if (cwd !== undefined) finder.add(cwd)
    }
    head.spoken ||= saved.some(({ type }) => type === 'user' || type === 'assistant')
    return saved.find(({ kind }) => kind === 'prompt') ?? saved.find(({ kind }) => kind === 'command')
  }
  head.createdAt ??= line.timestamp
  head.gitBranch ??= line.gitBranch
  head.customTitle = line.customTitle ?? head.customTitle
  head.spoken ||= line.type === 'user' || line.type === 'assistant'
  if (line.cwd !== undefined) finder.add(line.cwd)
  if (line.relocatedCwd !== undefined) finder.add(line.relocatedCwd)
  if (line.plainPrompt !== undefined) head.firstPrompt ??= shorten(line.plainPrompt, PROMPT_LENGTH)
  else if (READ.has(line.type ?? '')) {
    if (scanner.scan(bytes, start, to) <= 0) return undefined
    const entry = records.readRecord(bytes, { from, to, offset: from, path })
    head.spoken ||= entry.kind === 'prompt'
    return entry
  }
  return undefined
}

/** Lines that must be read to know whether somebody says something in them. */
const READ: ReadonlySet<string> = new Set(['user', 'system', 'queue-operation'])

interface Tail {
  customTitle: string | undefined
  agentTitle: string | undefined
  gitBranch: string | undefined
  lastActivityAt: string | undefined
  damaged: boolean
  start: number
}

function readTail(file: TranscriptFile, finder: WorkdirFinder, window: Buffer): Tail {
  let buffer = window
  const end = findWrittenEnd(file)
  for (;;) {
    const size = Math.min(buffer.length, end)
    const start = end - size
    const count = file.readNow(buffer, size, start)
    const tail = readTailLines(buffer.subarray(0, count), start, finder)
    if (end < file.size) tail.damaged = true
    // One long line at the end can fill the whole window: look further back.
    if (tail.lastActivityAt !== undefined || start === 0 || buffer.length >= LINE_LIMIT) return tail
    buffer = Buffer.allocUnsafe(Math.min(buffer.length * 8, LINE_LIMIT))
  }
}

function readTailLines(bytes: Buffer, offset: number, finder: WorkdirFinder): Tail {
  // The window begins in the middle of a line, unless it begins with the file.
  const first = offset === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
  const tail: Tail = {
    customTitle: undefined,
    agentTitle: undefined,
    gitBranch: undefined,
    lastActivityAt: undefined,
    damaged: false,
    start: offset + first,
  }
  for (let end = bytes.length; end > first && tail.lastActivityAt === undefined;) {
    const lineEnd = bytes[end - 1] === NEWLINE ? end - 1 : end
    const start = lineEnd === 0 ? 0 : Math.max(bytes.lastIndexOf(NEWLINE, lineEnd - 1) + 1, first)
    end = start
    if (lineEnd <= start) continue
    // Records without a time are passed over unread, unless they look torn.
    if (bytes[lineEnd - 1] === CLOSING_BRACE && indexWithin(bytes, TIME, start, lineEnd) === lineEnd) continue
    const line = glimpseEnd(bytes, start, lineEnd)
    if (line === undefined && skipBlank(bytes, start, lineEnd) < lineEnd) {
      const { saved, isDamaged } = readDamagedLine(bytes, start, lineEnd)
      tail.damaged ||= isDamaged
      tail.lastActivityAt = saved.findLast(({ at }) => at !== undefined)?.at
      tail.gitBranch ??= saved.findLast(({ gitBranch }) => gitBranch !== undefined)?.gitBranch
      for (const { cwd } of saved) if (cwd !== undefined) finder.add(cwd)
      continue
    }
    tail.lastActivityAt = line?.timestamp
    tail.gitBranch ??= line?.gitBranch
    if (line?.cwd !== undefined) finder.add(line.cwd)
  }
  // Of a larger file the middle is not seen anyway, and the last line has told where the session is now.
  if (offset <= HEAD) finder.search(bytes, first, bytes.length)
  readTitles(bytes, first, tail)
  return tail
}

/** The records that a line holds beside what is damaged in it, if anything is: the list knows what the reader shows. */
function readDamagedLine(
  bytes: Buffer,
  from: number,
  to: number,
): { readonly saved: readonly Entry[]; readonly isDamaged: boolean } {
  const out: Reading[] = []
  lineReaderOf(claudeFormat).readLine(bytes, { from, to, offset: from }, out)
  return {
    saved: out.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : [])),
    isDamaged: out.some(({ kind }) => kind === 'damage'),
  }
}

const TITLE = Buffer.from('-title"')

/** The last title of each sort; lines that only mention such a type are passed over. */
function readTitles(bytes: Buffer, first: number, tail: Tail): void {
  for (let at = bytes.indexOf(TITLE, first); at >= 0; at = bytes.indexOf(TITLE, at + 1)) {
    const start = Math.max(bytes.lastIndexOf(NEWLINE, at) + 1, first)
    const newline = bytes.indexOf(NEWLINE, at)
    const line = glimpse(bytes, start, newline < 0 ? bytes.length : newline)
    if (line?.type === 'custom-title') tail.customTitle = line.customTitle
    else if (line?.type === 'ai-title') tail.agentTitle = line.aiTitle
  }
}

const TIME = Buffer.from('"timestamp"')
const CLOSING_BRACE = 0x7d
const NEWLINE = 0x0a

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafe(buffer.length * 4)
  buffer.copy(larger)
  return larger
}

function promptText(entry: Entry & { kind: 'prompt' }): string {
  const text = textOf(entry.blocks)
  return text === ''
    ? `[${entry.blocks.map((block) => block.kind).join(', ')}]`
    : shorten(text, PROMPT_LENGTH)
}

/** Commands of Claude Code that ask the model for nothing. */
const HOUSEKEEPING: ReadonlySet<string> = new Set(
  'add-dir agents clear compact config context cost doctor exit help hooks ide login logout mcp memory model permissions plugin quit rename resume status statusline terminal-setup theme usage vim'
    .split(' ')
    .map((name) => `/${name}`),
)

function commandText(entry: Entry & { kind: 'command' }): string | undefined {
  if (entry.command === undefined) return undefined
  return entry.args === undefined ? entry.command : shorten(`${entry.command} ${entry.args}`, PROMPT_LENGTH)
}

/** A list needs the beginning of a prompt, and a prompt can be megabytes. */
const PROMPT_LENGTH = 1000
