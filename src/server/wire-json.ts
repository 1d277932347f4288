import { isUtf8 } from 'node:buffer'
import type { Entry, Reading, SessionSummary } from '#model'
import { toWireReading, type BytesCodec, type LiveEvent, type Page, type SessionList } from '#wire'

/** Text where it gives the very same bytes back, base64 where not. */
export const bytesCodec: BytesCodec = {
  toWire(bytes) {
    const buffer = toBuffer(bytes)
    return isUtf8(buffer) ? buffer.toString('utf8') : { base64: buffer.toString('base64') }
  },
  fromWire: (bytes) => (typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes.base64, 'base64')),
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const summaries = new WeakMap<SessionSummary, Buffer>()

/** A session as JSON. The same object is written once, however often it is asked for. */
export function summaryText(session: SessionSummary): string {
  return summaryBytes(session).toString('utf8')
}

function summaryBytes(session: SessionSummary): Buffer {
  const known = summaries.get(session)
  if (known !== undefined) return known
  const bytes = Buffer.from(JSON.stringify(session))
  summaries.set(session, bytes)
  return bytes
}

const OPENING = Buffer.from('{"sessions":[')
const COMMA = 0x2c

/** The list that was asked for last: who asks again mostly asks for the same. */
let last:
  | { readonly sessions: readonly SessionSummary[]; readonly rest: string; readonly bytes: Buffer }
  | undefined

/** A list as JSON. Sessions that did not change are the same objects, and only put together again. */
export function listBytes(list: SessionList): Buffer {
  const { sessions, ...others } = list
  const rest = JSON.stringify(others)
  if (last?.rest !== rest || !isSame(last.sessions, sessions))
    last = { sessions, rest, bytes: join(sessions, rest) }
  return last.bytes
}

function isSame(one: readonly SessionSummary[], other: readonly SessionSummary[]): boolean {
  return one === other || (one.length === other.length && one.every((session, at) => session === other[at]))
}

function join(sessions: readonly SessionSummary[], rest: string): Buffer {
  const ending = Buffer.from(`],${rest.slice(1)}`)
  const pieces = sessions.map(summaryBytes)
  const length = pieces.reduce((sum, piece) => sum + piece.length + 1, OPENING.length + ending.length)
  const bytes = Buffer.allocUnsafe(Math.max(length - 1, OPENING.length + ending.length))
  let at = OPENING.copy(bytes)
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) bytes[at++] = COMMA
    bytes.set(piece, at)
    at += piece.length
  }
  bytes.set(ending, at)
  return bytes
}

function readingText(reading: Reading): string {
  return JSON.stringify(toWireReading(reading, bytesCodec))
}

/** A page as JSON, one reading at a time. */
export function* pagePieces({ readings, ...rest }: Page): Generator<string> {
  yield* readingPieces(readings)
  yield `,${JSON.stringify(rest).slice(1)}`
}

/** An empty part says that it takes long: what there is so far is sent at once. */
export async function* conversationPieces(
  parts: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>,
): AsyncGenerator<string | Uint8Array> {
  yield '{"readings":['
  let comma = ''
  for await (const entries of parts) {
    if (entries.length === 0) yield NOTHING
    for (const entry of entries) {
      yield comma + readingText({ kind: 'entry', entry })
      comma = ','
    }
  }
  yield ']}'
}

const NOTHING = new Uint8Array()

function* readingPieces(readings: readonly Reading[]): Generator<string> {
  yield '{"readings":['
  let comma = ''
  for (const reading of readings) {
    yield comma + readingText(reading)
    comma = ','
  }
  yield ']'
}

/** A live event as JSON. */
export function eventText(event: LiveEvent): string {
  switch (event.kind) {
    case 'entry.added': {
      const { readings, ...rest } = event
      return `{"readings":[${readings.map(readingText).join(',')}],${JSON.stringify(rest).slice(1)}`
    }
    case 'session.changed':
      return `{"kind":"session.changed","session":${summaryText(event.session)},"cursor":${JSON.stringify(event.cursor)}}`
    case 'session.removed':
    case 'hit.found':
    case 'live.view':
    case 'live.event':
    case 'live.none':
    case 'board.changed':
    case 'board.removed':
    case 'documents.changed':
    case 'reset':
    case 'caught-up':
      return JSON.stringify(event)
  }
}
