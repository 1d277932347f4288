import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { field } from '#base'
import { MAX_LINE_BYTES, NEWLINE, readLine } from './line.ts'
import type { Place } from '#model'
import type { DamageReason } from './line.ts'

export type JournalLine = { readonly kind: 'line'; readonly value: unknown; readonly place: Place }

/** Bytes of the journal that are no line of it. They are reported, left as they are, and reading goes on behind. */
export type JournalDamage = { readonly kind: 'damage'; readonly reason: DamageReason; readonly place: Place }

export type JournalItem = JournalLine | JournalDamage

const CHUNK = 256 * 1024

/**
 * Reads a journal from its beginning, lines and damage in the order of the file. Takes no lock, so it may run beside
 * the writer; a last line without its newline is held back, as it may still be on its way. A journal that is not
 * there yet has no lines. Never throws on content, and needs the memory of one line.
 */
export async function* readJournal(path: string): AsyncGenerator<JournalItem, void, undefined> {
  const file = await openIfThere(path)
  if (!file) return
  try {
    yield* readLines(file)
  } finally {
    await file.close()
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return undefined
    throw error
  }
}

async function* readLines(file: FileHandle): AsyncGenerator<JournalItem, void, undefined> {
  // Only as far as the file went when reading began: what comes later may be cut and written anew.
  const { size } = await file.stat()
  let begun = startLine(0)
  for (let position = 0; position < size;) {
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(Math.min(CHUNK, size - position)),
      0,
      undefined,
      position,
    )
    if (bytesRead === 0) return
    position += bytesRead
    let rest = buffer.subarray(0, bytesRead)
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      extendLine(begun, rest.subarray(0, at))
      yield toItem(begun)
      begun = startLine(begun.offset + begun.length + 1)
      rest = rest.subarray(at + 1)
    }
    extendLine(begun, rest)
  }
}

/** The part of a line that was read so far. Its pieces are dropped once it is too long to be one. */
type BegunLine = { readonly offset: number; length: number; pieces: Buffer[] }

function startLine(offset: number): BegunLine {
  return { offset, length: 0, pieces: [] }
}

function extendLine(line: BegunLine, piece: Buffer): void {
  if (piece.length === 0) return
  line.length += piece.length
  if (line.length > MAX_LINE_BYTES) line.pieces = []
  else line.pieces.push(piece)
}

function toItem({ offset, length, pieces }: BegunLine): JournalItem {
  const place = { offset, length }
  if (length > MAX_LINE_BYTES) return { kind: 'damage', reason: 'too-long', place }
  const content = readLine(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces))
  return 'value' in content
    ? { kind: 'line', value: content.value, place }
    : { kind: 'damage', reason: content.damage, place }
}
