import { createHash } from 'node:crypto'
import { isObject, number, string } from '#base'
import type { JsonObject } from '#base'
import { toLine } from '#journal'
import type { AuditBreak } from '#model'

const HASH = /^,"hash":"([0-9a-f]{64})"\}$/
const HASH_BYTES = 75

/** Where the chain of a session has come to. */
export interface ChainEnd {
  readonly seq: number
  /** What the next line has for `prev`. */
  readonly prev: string
}

/** Before the first line. It is another one for every session, so that no log passes for that of another. */
export function chainStart(sessionId: string): ChainEnd {
  return { seq: 0, prev: sha256(Buffer.from(`audit log of ${sessionId}`)) }
}

/** A line for the end of the chain, and where the chain ends with it. */
export function linkLine(
  end: ChainEnd,
  { at, fact }: { readonly at: string; readonly fact: object },
): { readonly value: object; readonly end: ChainEnd } {
  const seq = end.seq + 1
  const open = { seq, at, prev: end.prev, ...fact }
  const value = { ...open, hash: sha256(bytesOf(open)) }
  return { value, end: { seq, prev: sha256(bytesOf(value)) } }
}

function bytesOf(value: object): Buffer {
  return toLine(value).subarray(0, -1)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A line as it stands in the file. */
export interface FoundLine {
  readonly bytes: Buffer
  /** What it says; `undefined` when it is no JSON. */
  readonly value: unknown
}

export interface ChainCheck {
  add(line: FoundLine): void
  /** The first line that is not as it was written, counted from 1. */
  findBreak(): { readonly line: number; readonly why: AuditBreak } | undefined
  end(): ChainEnd
  count(): number
}

/** Looks at the lines of a log, one after the other. */
export function createChainCheck(sessionId: string): ChainCheck {
  const start = chainStart(sessionId)
  let end = start
  let count = 0
  let found: { readonly line: number; readonly why: AuditBreak; readonly missing?: number } | undefined
  const hashes = new Set<string>()
  const laterSeqs = new Set<number>()

  function check({ bytes, value }: FoundLine, hash: string): void {
    const why = findFault({ bytes, value }, end)
    if (why === undefined) return
    if (why === 'inserted' && hashes.has(hash)) found = { line: count, why: 'repeated' }
    else if (why === 'removed' && end.seq === 0 && number(value, 'seq') === 1)
      found = { line: count, why: 'other-session' }
    else if (why === 'removed') found = { line: count, why, missing: end.seq + 1 }
    else found = { line: count, why }
  }

  return {
    add({ bytes, value }) {
      count += 1
      const hash = sha256(bytes)
      const seq = number(value, 'seq')
      if (found) laterSeqs.add(seq ?? 0)
      else check({ bytes, value }, hash)
      hashes.add(hash)
      // The chain goes on from whatever stands there: what is wrong before is told, not mended.
      end = { seq: seq ?? end.seq, prev: hash }
    },
    findBreak() {
      if (!found) return undefined
      const { line, why, missing } = found
      const isElsewhere = missing !== undefined && laterSeqs.has(missing)
      return { line, why: isElsewhere ? 'reordered' : why }
    },
    end: () => end,
    count: () => count,
  }
}

function findFault({ bytes, value }: FoundLine, end: ChainEnd): AuditBreak | undefined {
  if (!isLink(value)) return 'unreadable'
  const tail = HASH.exec(bytes.subarray(-HASH_BYTES).toString('latin1'))
  if (!tail) return 'modified'
  const body = Buffer.concat([bytes.subarray(0, -HASH_BYTES), Buffer.from('}')])
  if (sha256(body) !== tail[1]) return 'modified'
  const seq = number(value, 'seq') ?? 0
  if (string(value, 'prev') === end.prev && seq === end.seq + 1) return undefined
  if (end.seq === 0 && seq === 1) return 'removed'
  return seq > end.seq + 1 ? 'removed' : 'inserted'
}

/** Whether a value has what every line of a log has. */
export function isLink(value: unknown): value is JsonObject {
  return (
    isObject(value) &&
    number(value, 'seq') !== undefined &&
    string(value, 'at') !== undefined &&
    string(value, 'prev') !== undefined &&
    string(value, 'hash') !== undefined
  )
}
