import { parseJson } from '#base'
import { setImmediate } from 'node:timers/promises'
import {
  billKey,
  createBilling,
  toCompactionFact,
  workOf,
  type Billing,
  type CompactionFact,
  type Reading,
  type Usage,
} from '#model'
import { FieldReader } from '../field-reader.ts'
import { MAX_LINE, readForward } from '../forward.ts'
import { ObjectScanner } from '../object-scanner.ts'
import { lineReaderOf, skipBlank } from '../salvage.ts'
import type { TranscriptFile } from '../transcript-file.ts'
import { CACHE_KEYS, USAGE_KEYS } from './keys.ts'
import { claudeFormat, readUsage } from './read-line.ts'

/** What one message cost, as one file tells it: the last of its lines that says something of it. */
export interface BilledMessage {
  /** Message and request. */
  readonly key: string
  /** Milliseconds. */
  readonly at?: number | undefined
  readonly model?: string | undefined
  readonly workdir?: string | undefined
  readonly usage: Usage
}

/** A compaction, when and where it was made. */
export interface FoundCompaction extends CompactionFact {
  /** Milliseconds. */
  readonly at?: number | undefined
  readonly workdir?: string | undefined
}

/** What a transcript says of tokens. */
export interface FileBills {
  readonly messages: readonly BilledMessage[]
  readonly compactions: readonly FoundCompaction[]
}

/** Reads what the messages of transcripts cost, and nothing else of them. Reads one file at a time. */
export interface BillReader {
  read(file: TranscriptFile): Promise<FileBills>
}

/**
 * Looks for the bytes of the key `usage` and scans only lines that have it; no content is parsed. The same bills as a
 * full read: a line that is not one record is read by the reader that saves what can be saved, and a file with lines
 * too long to hold is read in full.
 */
export function createBillReader(): BillReader {
  const scanner = new ObjectScanner(KEYS, {
    under: 'message',
    keys: MESSAGE_KEYS,
    inner: { under: 'usage', keys: USAGE_KEYS, inner: { under: 'cache_creation', keys: CACHE_KEYS } },
  })
  const replies = createReplyReader(scanner)
  const chunk = Buffer.allocUnsafe(CHUNK)
  /** For lines that are longer. */
  let large = chunk
  let unyielded = 0

  /** `offset`: where the first byte stands in its file. */
  function searchLines(bytes: Buffer, offset: number, bills: Bills): void {
    let end = 0
    for (let at = bytes.indexOf(NEEDLE); at >= 0; at = bytes.indexOf(NEEDLE, end)) {
      const start = Math.max(bytes.lastIndexOf(NEWLINE, at) + 1, end)
      const newline = bytes.indexOf(NEWLINE, at)
      end = newline < 0 ? bytes.length : newline
      const scanned = scanner.scan(bytes, start, end)
      const isRecord = scanned > 0 && skipBlank(bytes, scanned, end) === end
      if (isRecord && replies.add(bytes, bills)) continue
      replies.flush(bytes, bills)
      readLine(bytes, { from: start, to: end, offset: offset + start }, bills)
    }
    replies.flush(bytes, bills)
  }

  return {
    async read(file) {
      const bills: Bills = new Map()
      const compactions = new Map<string, FoundCompaction>()
      let hasTotals = false
      let buffer: Buffer = chunk
      /** The beginning of a line that goes on: where it stands in the buffer, and how long it is. */
      let tail = 0
      let held = 0
      for (let position = 0; position < file.size;) {
        if (held > MAX_LINE / 2) return await readInFull(file)
        if (held * 2 > large.length) large = Buffer.allocUnsafe(held * 4)
        const next = held * 2 > chunk.length ? large : chunk
        if (next !== buffer) buffer.copy(next, 0, tail, tail + held)
        else buffer.copyWithin(0, tail, tail + held)
        buffer = next
        if (unyielded > YIELD_AFTER) {
          unyielded = 0
          await setImmediate()
        }
        const size = Math.min(buffer.length - held, file.size - position)
        await file.prepare?.(size, position)
        const count = file.readNow(buffer.subarray(held), size, position)
        const offset = position - held
        const end = held + count
        position += count
        unyielded += count
        const isLast = position >= file.size || count < size
        const whole = isLast ? end : buffer.lastIndexOf(NEWLINE, end - 1) + 1
        const lines = buffer.subarray(0, whole)
        searchLines(lines, offset, bills)
        searchCompactions(lines, offset, compactions)
        hasTotals ||= lines.includes(TOTALS)
        if (isLast) break
        tail = whole
        held = end - whole
      }
      // What the request of a compaction cost is told by the order of the lines around it.
      if (hasTotals && compactions.size > 0) return await readInFull(file)
      return { messages: toBills(bills), compactions: [...compactions.values()] }
    },
  }
}

type Bills = Map<string, Omit<BilledMessage, 'key' | 'at'> & { readonly at: string | undefined }>

interface ReplyReader {
  /** Takes in the reply that was just scanned. False: it must be read in full to know. */
  add(bytes: Buffer, bills: Bills): boolean
  /** Writes down what was taken in last. To be called while its bytes are still there. */
  flush(bytes: Buffer, bills: Bills): void
}

/** Lines of one message follow each other, and the last one counts: the others are not made into strings. */
function createReplyReader(scanner: ObjectScanner): ReplyReader {
  const inner = scanner.inner ?? new ObjectScanner(MESSAGE_KEYS)
  const usageScanner = inner.inner ?? new ObjectScanner(USAGE_KEYS)
  const fields = new FieldReader(scanner)
  const message = new FieldReader(inner)
  const figures = {
    usage: new FieldReader(usageScanner),
    cache: new FieldReader(usageScanner.inner ?? new ObjectScanner(CACHE_KEYS)),
  }
  let id: string | undefined
  let request: string | undefined
  let model: string | undefined
  let workdir: string | undefined
  let usage: Usage | undefined
  let timeStart = -1
  let timeEnd = -1

  function flush(bytes: Buffer, bills: Bills): void {
    if (usage === undefined) return
    const time = timeStart < 0 ? undefined : bytes.toString('utf8', timeStart + 1, timeEnd - 1)
    const at = time?.includes('\\') === true ? toText(parseJson(`"${time}"`)) : time
    bills.set(`${id ?? ''} ${request ?? ''}`, { at, model, workdir, usage })
    usage = undefined
  }

  return {
    flush,
    add(bytes, bills) {
      const type = fields.repeated(bytes, KEY.type)
      // A subagent's answer stands further inside of its line.
      if (type === 'progress') return false
      if (type !== 'assistant') return true
      if (!message.isObject(bytes, MESSAGE_KEY.usage)) return true
      const itsModel = message.repeated(bytes, MESSAGE_KEY.model)
      if (itsModel === SYNTHETIC) return true
      const itsId = message.repeated(bytes, MESSAGE_KEY.id)
      if (itsId === undefined) return false
      const itsRequest = fields.repeated(bytes, KEY.requestId)
      if (itsId !== id || itsRequest !== request) flush(bytes, bills)
      id = itsId
      request = itsRequest
      model = itsModel
      workdir = fields.repeated(bytes, KEY.cwd)
      usage = readUsage(figures, bytes)
      const start = scanner.starts[KEY.timestamp] ?? -1
      timeStart = start >= 0 && bytes[start] === QUOTE ? start : -1
      timeEnd = scanner.ends[KEY.timestamp] ?? -1
      return true
    },
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const QUOTE = 0x22
const SYNTHETIC = '<synthetic>'

function readLine(bytes: Buffer, range: { from: number; to: number; offset: number }, bills: Bills): void {
  const readings: Reading[] = []
  lineReaderOf(claudeFormat).readLine(bytes, range, readings)
  addAll(readings, bills)
}

/** Compactions are few: a line that may be one is read as any other. */
function searchCompactions(bytes: Buffer, offset: number, found: Map<string, FoundCompaction>): void {
  let end = 0
  for (let at = bytes.indexOf(BOUNDARY); at >= 0; at = bytes.indexOf(BOUNDARY, end)) {
    const from = bytes.lastIndexOf(NEWLINE, at) + 1
    const newline = bytes.indexOf(NEWLINE, at)
    end = newline < 0 ? bytes.length : newline
    const readings: Reading[] = []
    lineReaderOf(claudeFormat).readLine(bytes, { from, to: end, offset: offset + from }, readings)
    addCompactions(readings, found)
  }
}

async function readInFull(file: TranscriptFile): Promise<FileBills> {
  const bills: Bills = new Map()
  const compactions = new Map<string, FoundCompaction>()
  const billing = createBilling()
  for await (const { readings } of readForward(file, claudeFormat)) {
    addInOrder(readings, bills, billing)
    addCompactions(readings, compactions)
  }
  return { messages: toBills(bills), compactions: [...compactions.values()] }
}

function addCompactions(readings: readonly Reading[], found: Map<string, FoundCompaction>): void {
  for (const reading of readings) {
    if (reading.kind !== 'entry' || reading.entry.kind !== 'compaction') continue
    const { entry } = reading
    const fact = toCompactionFact(entry)
    found.set(fact.key, { ...fact, at: toMs(entry.at), workdir: entry.cwd })
  }
}

/** The same in their order, which tells what the requests of compactions cost. */
function addInOrder(readings: readonly Reading[], bills: Bills, billing: Billing): void {
  for (const reading of readings) {
    if (reading.kind === 'damage') continue
    const { entry } = reading
    const { key, usage, model, workdir, at = entry.at } = billing.add(entry) ?? {}
    if (key !== undefined && usage !== undefined) bills.set(key, { at, model, workdir, usage })
  }
}

function addAll(readings: readonly Reading[], bills: Bills): void {
  for (const reading of readings) {
    if (reading.kind === 'damage') continue
    const entry = workOf(reading.entry)
    if (entry.kind !== 'reply') continue
    if (entry.synthetic || entry.usage === undefined) continue
    bills.set(billKey(entry), { at: entry.at, model: entry.model, workdir: entry.cwd, usage: entry.usage })
  }
}

function toBills(bills: Bills): readonly BilledMessage[] {
  return [...bills].map(([key, { at, ...bill }]) => ({ key, at: toMs(at), ...bill }))
}

function toMs(at: string | undefined): number | undefined {
  const ms = at === undefined ? Number.NaN : Date.parse(at)
  return Number.isNaN(ms) ? undefined : ms
}

/** Asked of the disk at a time: what the processor's own memory holds. */
const CHUNK = 64 * 1024
/** Others get their turn after so many bytes, a few milliseconds. */
const YIELD_AFTER = 2 * 1024 * 1024
const NEEDLE = Buffer.from('"usage"')
const TOTALS = Buffer.from('"cost-state"')
const BOUNDARY = Buffer.from('"compact_boundary"')
const NEWLINE = 0x0a

const KEY = { type: 0, uuid: 1, timestamp: 2, cwd: 3, requestId: 4, message: 5 } as const
const KEYS = Object.keys(KEY)
const MESSAGE_KEY = { id: 0, model: 1, usage: 2 } as const
const MESSAGE_KEYS = Object.keys(MESSAGE_KEY)
