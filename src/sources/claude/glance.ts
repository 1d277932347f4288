import { shorten } from '#base'
import { textOf, type Entry } from '#model'
import { FieldReader } from '../field-reader.ts'
import { ObjectScanner } from '../object-scanner.ts'
import type { RecordReader } from '../source.ts'
import type { TranscriptFile } from '../transcript-file.ts'
import { KEY } from './keys.ts'
import { claudeFormat } from './read-line.ts'
import { WorkdirFinder } from './workdirs.ts'

/** What both ends of a transcript tell. */
export interface Glance {
  readonly firstPrompt?: string
  readonly customTitle?: string
  readonly agentTitle?: string
  readonly gitBranch?: string
  readonly createdAt?: string
  readonly lastActivityAt?: string
  readonly workdirs: readonly string[]
  readonly workdirsComplete: boolean
  readonly state: 'ok' | 'empty' | 'damaged'
}

const HEAD = 8 * 1024
const TAIL = 64 * 1024
/** How far into the file the first prompt is looked for. */
const HEAD_LIMIT = 1024 * 1024
/** The longest line at either end that a list waits for. */
const LINE_LIMIT = 32 * 1024 * 1024

/** Looks at the beginning and the end of transcripts, one after another, with the same two buffers. */
export function createGlance(): (file: TranscriptFile) => Glance {
  const scanner = new ObjectScanner(claudeFormat.keys, claudeFormat.inner)
  const records = claudeFormat.createReader(scanner)
  const fields = new FieldReader(scanner)
  const buffers = { head: Buffer.allocUnsafe(HEAD), tail: Buffer.allocUnsafe(TAIL) }

  return (file) => {
    const finder = new WorkdirFinder()
    const head = readHead(file, { scanner, records, fields, finder, buffer: buffers.head })
    const tail = readTail(file, { scanner, records, fields, finder, buffer: buffers.tail })
    const createdAt = head.createdAt ?? tail.lastActivityAt
    const lastActivityAt = tail.lastActivityAt ?? head.createdAt
    return {
      ...definedOnly({ firstPrompt: head.firstPrompt, gitBranch: tail.gitBranch ?? head.gitBranch }),
      ...definedOnly({ customTitle: tail.customTitle, agentTitle: tail.agentTitle }),
      ...definedOnly({ createdAt, lastActivityAt }),
      workdirs: [...finder.found],
      workdirsComplete: head.end >= tail.start,
      state: head.damaged || tail.damaged ? 'damaged' : head.spoken || head.end < tail.start ? 'ok' : 'empty',
    }
  }
}

interface Look {
  readonly scanner: ObjectScanner
  readonly records: RecordReader
  readonly fields: FieldReader
  readonly finder: WorkdirFinder
  readonly buffer: Buffer
}

interface Head {
  firstPrompt?: string
  gitBranch?: string
  createdAt?: string
  damaged: boolean
  /** Whether anybody said anything in what was looked at. */
  spoken: boolean
  /** How far the file was looked at. */
  end: number
}

function readHead(file: TranscriptFile, look: Look): Head {
  const head: Head = { damaged: false, spoken: false, end: 0 }
  let command: string | undefined
  let { buffer } = look
  let filled = 0
  let start = 0
  while (filled < file.size && start < HEAD_LIMIT && head.firstPrompt === undefined) {
    if (filled === buffer.length) buffer = grown(buffer)
    if (buffer.length > LINE_LIMIT + HEAD_LIMIT) break
    const count = file.readNow(buffer.subarray(filled), Math.min(buffer.length, file.size) - filled, filled)
    if (count === 0) break
    filled += count
    for (;;) {
      const newline = buffer.indexOf(NEWLINE, start)
      const atEnd = filled >= file.size
      const end = newline >= 0 && newline < filled ? newline : atEnd ? filled : -1
      if (end < 0 || start >= filled) break
      const entry = readHeadLine(buffer, start, end, look, head)
      if (entry?.kind === 'prompt' && entry.origin !== 'system') head.firstPrompt ??= promptText(entry)
      if (entry?.kind === 'command') command ??= commandText(entry)
      look.finder.search(buffer, start, end)
      start = end + 1
      if (head.firstPrompt !== undefined) break
    }
  }
  if (head.firstPrompt === undefined && command !== undefined) head.firstPrompt = command
  head.end = Math.min(start, file.size)
  return head
}

/** Reads a line near the beginning, as far as it may tell something new. */
function readHeadLine(bytes: Buffer, from: number, to: number, look: Look, head: Head): Entry | undefined {
  if (to <= from) return undefined
  const { scanner, fields, records } = look
  const start = from === 0 && bytes[0] === 0xef ? 3 : from
  if (scanner.scan(bytes, start, to) < 0) {
    head.damaged = true
    return undefined
  }
  const at = fields.text(bytes, KEY.timestamp)
  if (at !== undefined) head.createdAt ??= at
  const gitBranch = fields.text(bytes, KEY.gitBranch)
  if (gitBranch !== undefined) head.gitBranch ??= gitBranch
  const type = fields.text(bytes, KEY.type)
  if (type !== 'user' && type !== 'assistant' && type !== 'system') return undefined
  head.spoken ||= type !== 'system'
  return type === 'assistant' ? undefined : records.readRecord(bytes, { from, to, offset: from })
}

interface Tail {
  customTitle?: string
  agentTitle?: string
  gitBranch?: string
  lastActivityAt?: string
  damaged: boolean
  start: number
}

function readTail(file: TranscriptFile, look: Look): Tail {
  let { buffer } = look
  for (;;) {
    const size = Math.min(buffer.length, file.size)
    const start = file.size - size
    const count = file.readNow(buffer, size, start)
    const tail = readTailLines(buffer.subarray(0, count), start, look)
    // One long line at the end can fill the whole window: look further back.
    if (tail.lastActivityAt !== undefined || start === 0 || buffer.length > LINE_LIMIT) return tail
    buffer = Buffer.allocUnsafe(buffer.length * 8)
  }
}

function readTailLines(bytes: Buffer, offset: number, look: Look): Tail {
  const { scanner, fields } = look
  // The window begins in the middle of a line, unless it begins with the file.
  const first = offset === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
  const tail: Tail = { damaged: false, start: offset + first }
  for (let end = bytes.length; end > first && tail.lastActivityAt === undefined;) {
    const lineEnd = bytes[end - 1] === NEWLINE ? end - 1 : end
    const start = lineEnd === 0 ? 0 : Math.max(bytes.lastIndexOf(NEWLINE, lineEnd - 1) + 1, first)
    end = start
    if (lineEnd <= start) continue
    if (scanner.scan(bytes, start, lineEnd) < 0) {
      tail.damaged = true
      continue
    }
    const at = fields.text(bytes, KEY.timestamp)
    if (at !== undefined) tail.lastActivityAt = at
    const gitBranch = fields.text(bytes, KEY.gitBranch)
    if (gitBranch !== undefined) tail.gitBranch ??= gitBranch
  }
  look.finder.search(bytes, first, bytes.length)
  const customTitle = findLastValue(bytes, first, CUSTOM_TITLE, look)
  if (customTitle !== undefined) tail.customTitle = customTitle
  const agentTitle = findLastValue(bytes, first, AGENT_TITLE, look)
  if (agentTitle !== undefined) tail.agentTitle = agentTitle
  return tail
}

interface RecordType {
  readonly needle: Buffer
  readonly type: string
  readonly key: number
}

const CUSTOM_TITLE: RecordType = {
  needle: Buffer.from('"custom-title"'),
  type: 'custom-title',
  key: KEY.customTitle,
}
const AGENT_TITLE: RecordType = { needle: Buffer.from('"ai-title"'), type: 'ai-title', key: KEY.aiTitle }

/** The value of the last record of a type; lines that only mention the type are passed over. */
function findLastValue(bytes: Buffer, first: number, record: RecordType, look: Look): string | undefined {
  const { scanner, fields } = look
  let at = bytes.lastIndexOf(record.needle)
  while (at >= first) {
    const start = Math.max(bytes.lastIndexOf(NEWLINE, at) + 1, first)
    const newline = bytes.indexOf(NEWLINE, at)
    if (
      scanner.scan(bytes, start, newline < 0 ? bytes.length : newline) > 0 &&
      fields.text(bytes, KEY.type) === record.type
    ) {
      return fields.text(bytes, record.key)
    }
    if (start === 0) return undefined
    at = bytes.lastIndexOf(record.needle, start - 1)
  }
  return undefined
}

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

function commandText(entry: Entry & { kind: 'command' }): string | undefined {
  if (entry.command === undefined) return undefined
  return entry.args === undefined ? entry.command : shorten(`${entry.command} ${entry.args}`, PROMPT_LENGTH)
}

/** A list needs the beginning of a prompt, and a prompt can be megabytes. */
const PROMPT_LENGTH = 1000

/** Leaves out what is not there, as optional fields want it. */
function definedOnly<K extends string>(values: { readonly [key in K]: string | undefined }): {
  [key in K]?: string
} {
  const defined: { [key in K]?: string } = {}
  for (const key in values) {
    const value = values[key]
    if (value !== undefined) defined[key] = value
  }
  return defined
}
