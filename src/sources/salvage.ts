import type { DamageReason, Reading } from '#model'
import { ObjectScanner } from './object-scanner.ts'
import type { LineFormat, RecordPlace, RecordReader } from './source.ts'

/** Reads lines, one after another. */
export interface LineReader {
  /**
   * Reads the line `bytes[from, to)`, whose first byte stands at `offset` in its file, and gives every record it
   * can find in it and every range it cannot read. Never throws on content.
   */
  readLine(bytes: Buffer, range: LineRange, out: Reading[]): void
}

/** A line in the bytes at hand, and where it stands in its file. */
type LineRange = RecordPlace

/** The reader of a format. One serves all files: nothing of a line is kept when the next one is read. */
export function lineReaderOf(format: LineFormat): LineReader {
  const known = readers.get(format) ?? createLineReader(format)
  readers.set(format, known)
  return known
}

const readers = new WeakMap<LineFormat, LineReader>()

function createLineReader(format: LineFormat): LineReader {
  const scanner = new ObjectScanner(format.keys, format.inner)
  const records = format.createReader(scanner)
  return {
    readLine(bytes, { from, to, offset, path }, out) {
      const start = hasByteOrderMark(bytes, from, to) ? from + 3 : from
      const end = scanner.scan(bytes, start, to)
      // The ordinary case: one line, one record. The record then has all bytes of the line.
      if (end > 0 && skipBlank(bytes, end, to) === to) {
        takeRecord(records, bytes, { from, to, offset, path }, out)
        return
      }
      salvage(
        { bytes, records, scanner, path, shift: offset - from, out, budget: SALVAGE_WORK * (to - from) },
        from,
        to,
      )
    },
  }
}

interface Salvage {
  readonly bytes: Buffer
  readonly records: RecordReader
  readonly scanner: ObjectScanner
  readonly path: string | undefined
  /** Added to a position in `bytes`, gives the position in the file. */
  readonly shift: number
  readonly out: Reading[]
  /** Bytes that may still be scanned. Nested beginnings are scanned over and over; this keeps that linear. */
  budget: number
}

const SALVAGE_WORK = 64

/** A line that is not one record: zero bytes, records without a newline between them, torn ones. */
function salvage(work: Salvage, from: number, to: number): void {
  let at = from
  while (at < to) {
    const nul = indexWithin(work.bytes, 0, at, to)
    salvagePart(work, at, nul)
    at = nul
    while (at < to && work.bytes[at] === 0) at++
    if (at > nul) damaged(work, nul, at, 'nul-run')
  }
}

function salvagePart(work: Salvage, from: number, to: number): void {
  const { bytes, scanner } = work
  let at = skipBlank(bytes, from, to)
  if (hasByteOrderMark(bytes, at, to)) at += 3
  while (at < to) {
    const end = scanner.scan(bytes, at, to)
    if (end > 0) {
      record(work, at, end)
      at = skipBlank(bytes, end, to)
      continue
    }
    const reason = scanner.tooDeep ? 'too-deep' : scanner.failedAt >= to ? 'torn' : 'garbage'
    const next = findRecord(work, at + 1, to)
    if (next < 0) {
      damaged(work, at, to, reason)
      return
    }
    damaged(work, at, next, 'glued')
    at = next
  }
}

/** Where the next record of its own begins that a newline or another record follows. */
function findRecord(work: Salvage, from: number, to: number): number {
  const { bytes, scanner, records } = work
  for (let at = from; at < to; at++) {
    at = indexWithin(bytes, RECORD_START, at, to)
    if (at === to || work.budget <= 0) return -1
    const end = scanner.scan(bytes, at, to)
    work.budget -= (end > 0 ? end : scanner.failedAt) - at
    if (end < 0 || !records.isRecord()) continue
    const after = skipBlank(bytes, end, to)
    if (after === to || bytes[after] === RECORD_START[0]) return at
  }
  return -1
}

const RECORD_START = Buffer.from('{"')

function record(work: Salvage, from: number, to: number): void {
  const { bytes, records, shift, path } = work
  takeRecord(records, bytes, { from, to, offset: from + shift, path }, work.out)
}

function takeRecord(records: RecordReader, bytes: Buffer, place: RecordPlace, out: Reading[]): void {
  out.push({ kind: 'entry', entry: records.readRecord(bytes, place) })
  const reason = records.lacking?.()
  if (reason === undefined) return
  const { from, to, offset } = place
  out.push({ kind: 'damage', damage: { offset, length: to - from, reason } })
}

function damaged(work: Salvage, from: number, to: number, reason: DamageReason): void {
  work.out.push({ kind: 'damage', damage: { offset: from + work.shift, length: to - from, reason } })
}

function hasByteOrderMark(bytes: Buffer, from: number, to: number): boolean {
  return to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf
}

/** JSON's white space, which is no damage. */
export function skipBlank(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (at < to) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) return at
    at++
  }
  return to
}

/** Where something stands in `bytes[from, to)`, or `to`. Never looks further: what follows is somebody else's line. */
export function indexWithin(bytes: Buffer, wanted: number | Buffer, from: number, to: number): number {
  const found = bytes.subarray(from, to).indexOf(wanted)
  return found < 0 ? to : from + found
}
