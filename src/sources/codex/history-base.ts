import { createHash } from 'node:crypto'
import { readdirSync, type Dirent } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { TranscriptFile } from '../transcript-file.ts'
import { readHead, type HistoryBase } from './head.ts'

/** Opens one file as it lies on the disk. Throws when it is not there. */
export type OpenPlain = (path: string) => TranscriptFile

/**
 * A rollout with what stands before it. The file of a fork, and the one that is begun after a revert, hold only what
 * came after: they name another file and how much of it comes first. Whoever opens such a file reads the whole of it,
 * one byte behind the other; nothing is copied, and what is added to it is there at once. A file without such a name
 * is given back as it is, and so is one whose beginning is not to be found.
 */
export function withHistory(file: TranscriptFile, open: OpenPlain): TranscriptFile {
  const base = findBase(file)
  if (base === undefined) return file
  const parts: Part[] = []
  try {
    collect(base, { path: file.path, open, parts, seen: new Set([file.identity]) })
  } catch (error) {
    for (const part of parts) part.file.close()
    throw error
  }
  return parts.length === 0 ? file : toOneFile(parts.toReversed(), file)
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

/** The folder that `sessions` and `archived_sessions` are in. */
function rootOf(path: string): string | undefined {
  for (const name of ['sessions', 'archived_sessions']) {
    const at = path.lastIndexOf(`${sep}${name}${sep}`)
    if (at >= 0) return path.slice(0, at)
  }
  return undefined
}

function search(root: string, id: string): string | undefined {
  return findFile(join(root, 'archived_sessions'), id) ?? findBelow(join(root, 'sessions'), id)
}

function findBelow(dir: string, id: string): string | undefined {
  const found = findFile(dir, id)
  if (found !== undefined) return found
  for (const child of entriesOf(dir).toReversed()) {
    const below = child.isDirectory() ? findBelow(join(dir, child.name), id) : undefined
    if (below !== undefined) return below
  }
  return undefined
}

function findFile(dir: string, id: string): string | undefined {
  const file = entriesOf(dir).find(
    (child) =>
      child.isFile() &&
      child.name.startsWith('rollout-') &&
      (child.name.endsWith(`-${id}.jsonl`) || child.name.endsWith(`_${id}.jsonl`)),
  )
  return file === undefined ? undefined : join(dir, file.name)
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
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

/** The parts and then the file, as one. It is known by the file itself: the parts before it do not grow. */
function toOneFile(parts: readonly Part[], own: TranscriptFile): TranscriptFile {
  const pieces: { readonly file: TranscriptFile; readonly from: number; readonly to: number }[] = []
  let size = 0
  for (const { file, end } of [...parts, { file: own, end: own.size }]) {
    pieces.push({ file, from: size, to: size + end })
    size += end
  }
  const within = (length: number, position: number): readonly Span[] =>
    pieces.flatMap(({ file, from, to }) => {
      const start = Math.max(from, position)
      const end = Math.min(to, position + length)
      return start < end ? [{ file, at: start - from, length: end - start, into: start - position }] : []
    })
  return {
    path: own.path,
    size,
    identity: own.identity,
    modifiedMs: own.modifiedMs,
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
