import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { ThroughlineError } from '#base'
import type { Seam } from '../seams.ts'
import type { TranscriptFile } from '../transcript-file.ts'
import { readHead, type HistoryBase } from './head.ts'
import { findFile, findOlder, forgetOlder, idOf, rootOf, search } from './segments.ts'

/** Opens one file as it lies on the disk. Throws when it is not there. */
export type OpenPlain = (path: string) => TranscriptFile

/**
 * A rollout with what stands before it. The file of a fork, and the one that is begun after a revert, hold only what
 * came after: they name another file and how much of it comes first. Whoever opens such a file reads the whole of it,
 * one byte behind the other; nothing is copied, and what is added to it is there at once. A file without such a name
 * is given back as it is, and so is one whose beginning is not to be found.
 *
 * Of the thread that was forked only what came before the fork comes first. Of the thread itself all of its files do,
 * with what a revert took back of them: the file says where it returns to.
 */
export function withHistory(file: TranscriptFile, open: OpenPlain): TranscriptFile {
  const older = findOlder(file.path)
  const opened: TranscriptFile[] = []
  try {
    for (const path of older) {
      const each = openIfThere(path, open)
      if (each !== undefined) opened.push(each)
    }
    const own = [...opened, file]
    const base = findBase(own[0] ?? file)
    const before: Part[] = []
    const identities = own.map(({ identity }) => identity)
    if (base !== undefined) collect(base, { path: file.path, open, parts: before, seen: new Set(identities) })
    opened.push(...before.map((part) => part.file))
    if (!areWhole(own, before)) forgetOlder(file.path)
    if (opened.length === 0) return file
    const parts = [...before.toReversed(), ...own.map((each) => ({ file: each, end: each.size }))]
    return toOneFile(parts, own)
  } catch (error) {
    for (const each of opened) each.close()
    throw error
  }
}

/** Whether every file of a thread has the one that it was begun after: a copy of a thread comes file by file, in any order. */
function areWhole(own: readonly TranscriptFile[], before: readonly Part[]): boolean {
  const names = new Set(own.map(({ path }) => idOf(path)))
  return own.every((each, at) => {
    const base = findBase(each)
    return base === undefined || names.has(base.id) || (at === 0 && before.length > 0)
  })
}

/** A file may go between two looks at its folder. */
function openIfThere(path: string, open: OpenPlain): TranscriptFile | undefined {
  try {
    return open(path)
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'transcript-gone') return undefined
    throw error
  }
}

/** The first bytes of a file, up to `end`. */
interface Part {
  readonly file: TranscriptFile
  readonly end: number
}

interface Search {
  readonly path: string
  readonly open: OpenPlain
  /** The nearest first. */
  readonly parts: Part[]
  readonly seen: Set<string>
}

function collect(base: HistoryBase, { path, open, parts, seen }: Search): void {
  const found = openBase(base, path, open)
  if (found === undefined) return
  if (seen.has(found.identity)) return found.close()
  seen.add(found.identity)
  parts.push({ file: found, end: findEnd(found, base) })
  const before = findBase(found)
  if (before !== undefined) collect(before, { path: found.path, open, parts, seen })
}

/** What a first line says stays said. Small, and asked for every time a file is opened. */
const bases = new Map<string, { readonly mark: string; readonly base: HistoryBase | undefined }>()
const REMEMBERED = 10_000
/** More than stands before the base in a first line. */
const MARK = 4096

function findBase(file: TranscriptFile): HistoryBase | undefined {
  const start = Buffer.allocUnsafe(Math.min(MARK, file.size))
  const beginning = start.subarray(0, file.readNow(start, start.length, 0))
  const mark = `${file.identity} ${createHash('sha1').update(beginning).digest('base64')}`
  const known = bases.get(file.path)
  if (known?.mark === mark) return known.base
  const head = readHead(file)
  // A first line that is still being written may say more later.
  if (head === undefined) return undefined
  if (bases.size >= REMEMBERED) bases.clear()
  bases.set(file.path, { mark, base: head.base })
  return head.base
}

const ID = /^[A-Za-z0-9-]{1,128}$/u
const places = new Map<string, string>()

function openBase({ id }: HistoryBase, path: string, open: OpenPlain): TranscriptFile | undefined {
  if (!ID.test(id)) return undefined
  const root = rootOf(path)
  const key = `${root ?? dirname(path)} ${id}`
  const known = places.get(key)
  for (const candidate of known === undefined ? [] : [known]) {
    try {
      return open(candidate)
    } catch {
      places.delete(key)
    }
  }
  const found = findFile(dirname(path), id) ?? (root === undefined ? undefined : search(root, id))
  if (found === undefined) return undefined
  try {
    const file = open(found)
    places.set(key, found)
    return file
  } catch {
    return undefined
  }
}

const ends = new Map<string, number>()
const NEWLINE = 0x0a
const LINE_START = 256
const CHUNK = 256 * 1024

/**
 * How much of a file comes first. The offset is believed where a line begins there that has the ordinal; a file that
 * was written anew since is looked through for the ordinal.
 */
function findEnd(file: TranscriptFile, { endOffset, endOrdinal }: HistoryBase): number {
  if (endOffset !== undefined && endOffset <= file.size && beginsLine(file, endOffset)) {
    const ordinal = ordinalAt(file, endOffset)
    if (endOffset === file.size || endOrdinal === undefined || ordinal === endOrdinal) return endOffset
  }
  if (endOrdinal === undefined) return lastLineEnd(file)
  const key = `${file.identity} ${file.size} ${file.modifiedMs} ${endOrdinal}`
  const known = ends.get(key)
  if (known !== undefined) return known
  const end = findOrdinal(file, endOrdinal)
  if (ends.size >= REMEMBERED) ends.clear()
  ends.set(key, end)
  return end
}

function beginsLine(file: TranscriptFile, offset: number): boolean {
  const byte = Buffer.allocUnsafe(1)
  return offset === 0 || (file.readNow(byte, 1, offset - 1) === 1 && byte[0] === NEWLINE)
}

function ordinalAt(file: TranscriptFile, offset: number): number | undefined {
  const start = Buffer.allocUnsafe(LINE_START)
  const count = file.readNow(start, Math.min(LINE_START, file.size - offset), offset)
  return toOrdinal(start.toString('latin1', 0, count))
}

function toOrdinal(line: string): number | undefined {
  const digits = /^\s*\{[^{}]*?"ordinal"\s*:\s*(\d{1,15})/u.exec(line)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Where the first line begins that has this ordinal or a later one; the end of the last whole line when none has. */
function findOrdinal(file: TranscriptFile, ordinal: number): number {
  const chunk = Buffer.allocUnsafe(CHUNK)
  let lineStart = 0
  for (let position = 0; position < file.size;) {
    const count = file.readNow(chunk, Math.min(CHUNK, file.size - position), position)
    if (count === 0) break
    const bytes = chunk.subarray(0, count)
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      const found = ordinalAt(file, lineStart)
      if (found !== undefined && found >= ordinal) return lineStart
      lineStart = position + at + 1
    }
    position += count
  }
  return lineStart
}

function lastLineEnd(file: TranscriptFile): number {
  return findOrdinal(file, Number.POSITIVE_INFINITY)
}

/** Where the bytes of a part stand in the one file, up to `end` of them. */
interface Piece extends Part {
  readonly from: number
}

/** The parts as one file. It is known by the last of them: the parts before it do not grow. */
function toOneFile(parts: readonly Part[], own: readonly TranscriptFile[]): TranscriptFile {
  const pieces: Piece[] = []
  let size = 0
  for (const part of parts) {
    pieces.push({ ...part, from: size })
    size += part.end
  }
  const last = own.at(-1)
  if (last === undefined) throw new Error('a file has at least itself')
  const within = (length: number, position: number): readonly Span[] =>
    pieces.flatMap(({ file, from, end }) => {
      const start = Math.max(from, position)
      const to = Math.min(from + end, position + length)
      return start < to ? [{ file, at: start - from, length: to - start, into: start - position }] : []
    })
  return {
    path: last.path,
    size,
    identity: last.identity,
    modifiedMs: last.modifiedMs,
    seams: findSeams(pieces, own),
    async read(target, length, position) {
      let filled = 0
      for (const span of within(length, position)) {
        const count = await span.file.read(target.subarray(span.into), span.length, span.at)
        filled += count
        if (count < span.length) break
      }
      return filled
    },
    readNow(target, length, position) {
      let filled = 0
      for (const span of within(length, position)) {
        const count = span.file.readNow(target.subarray(span.into), span.length, span.at)
        filled += count
        if (count < span.length) break
      }
      return filled
    },
    ...(pieces.some(({ file }) => file.prepare !== undefined)
      ? {
          async prepare(length: number, position: number) {
            for (const span of within(length, position)) await span.file.prepare?.(span.length, span.at)
          },
          has: (length: number, position: number) =>
            within(length, position).every((span) => span.file.has?.(span.length, span.at) ?? true),
        }
      : {}),
    close() {
      for (const { file } of pieces) file.close()
    },
  }
}

interface Span {
  readonly file: TranscriptFile
  readonly at: number
  readonly length: number
  readonly into: number
}

/** Where each file of the thread but the first one begins, and where it returns to. One that names nothing returns to the beginning. */
function findSeams(pieces: readonly Piece[], own: readonly TranscriptFile[]): readonly Seam[] {
  return own.slice(1).flatMap((file) => {
    const at = pieces.find((piece) => piece.file === file)?.from
    if (at === undefined) return []
    const base = findBase(file)
    if (base === undefined) return [{ at, backTo: 0 }]
    const continued = pieces.find((piece) => piece.from < at && idOf(piece.file.path) === base.id)
    if (continued === undefined) return []
    return [{ at, backTo: continued.from + Math.min(continued.end, findEnd(continued.file, base)) }]
  })
}
