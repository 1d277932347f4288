import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { string } from '#base'
import { findStats } from './folders.ts'
import type { SourceProblem } from './source.ts'

/** How far a transcription was written: its length, and the last bytes of it. */
export interface Written {
  readonly size: number
  readonly tail: Buffer
}

/** As many bytes before a place say that the file before it is the one that was written. */
const TAIL = 256

/**
 * Makes the file hold these lines. One that holds some of them, in whatever order, gets the rest; one that holds all of
 * them and more behind them was written by somebody who has seen more, and is left alone; any other is replaced, all
 * at once. Whoever writes the same lines at the same time does no harm.
 */
export function writeWhole(path: string, lines: readonly string[]): Written {
  const bytes = toBytes(lines)
  const before = readExisting(path)
  if (before === undefined) return replaceWith(path, bytes)
  const common = Math.min(before.length, bytes.length)
  if (before.subarray(0, common).equals(bytes.subarray(0, common)) && before.length >= bytes.length)
    return { size: before.length, tail: tailOf(before) }
  const rest = before.subarray(0, common).equals(bytes.subarray(0, common))
    ? bytes.subarray(common)
    : findRest(before, lines)
  const written = { size: before.length, tail: tailOf(before) }
  return (rest === undefined ? undefined : writeOn(path, written, rest)) ?? replaceWith(path, bytes)
}

/** What is not in a file yet; nothing when something is in it that is not among the lines. */
function findRest(before: Buffer, lines: readonly string[]): Buffer | undefined {
  const there = new Map<string, number>()
  const text = before.toString('utf8')
  if (!text.endsWith('\n')) return undefined
  for (const line of text.slice(0, -1).split('\n')) there.set(line, (there.get(line) ?? 0) + 1)
  const missing = lines.filter((line) => {
    const count = there.get(line) ?? 0
    if (count > 0) there.set(line, count - 1)
    return count === 0
  })
  return [...there.values()].every((count) => count === 0) ? toBytes(missing) : undefined
}

function replaceWith(path: string, bytes: Buffer): Written {
  replaceNow(path, bytes)
  return { size: bytes.length, tail: tailOf(bytes) }
}

/** Lines as they stand in a file. */
export function toBytes(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8')
}

/**
 * Adds to what was written. Nothing when the file is not the one that was written, or not as long: then it has to be
 * written whole. The place is given, not the end: two who add the same bytes add them once.
 */
export function writeOn(path: string, written: Written, bytes: Buffer): Written | undefined {
  let fd: number
  try {
    fd = openSync(path, 'r+')
  } catch {
    return undefined
  }
  try {
    const { size, tail } = written
    if (fstatSync(fd).size < size) return undefined
    const found = Buffer.alloc(tail.length)
    readSync(fd, found, 0, tail.length, size - tail.length)
    if (!found.equals(tail)) return undefined
    for (let done = 0; done < bytes.length;)
      done += writeSync(fd, bytes, done, bytes.length - done, size + done)
    return { size: size + bytes.length, tail: tailOf(Buffer.concat([tail, bytes.subarray(-TAIL)])) }
  } finally {
    closeSync(fd)
  }
}

/** The old bytes or the new ones, never a part. Nothing is synced: what is derived can be made again. */
export function replaceNow(path: string, bytes: Buffer | string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeFileSync(temporary, bytes, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Puts a file somewhere else, if it is there. */
export function moveNow(from: string, to: string): void {
  if (findStats(from) === undefined) return
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  renameSync(from, to)
}

/** The length of a file; nothing for one that is not there. */
export function findSize(path: string): number | undefined {
  return findStats(path)?.size
}

function readExisting(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function tailOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-TAIL))
}

/** What says of the disk, and not of the session, that nothing can be written. */
const DISK: ReadonlySet<string> = new Set(['EROFS', 'ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EIO'])

export function isOfDisk(error: unknown): boolean {
  const syscall = string(error, 'syscall')
  // Node says `ENOENT` when it makes folders where it may not.
  return syscall !== undefined && (DISK.has(string(error, 'code') ?? '') || syscall === 'mkdir')
}

/** Says that transcriptions could not be written, once for all of them. */
export function toWriteProblem(dir: string, unwritten: number, cause: unknown): SourceProblem {
  const reason =
    (string(cause, 'syscall') === 'mkdir' ? 'no folder can be made' : string(cause, 'code')) ??
    (cause instanceof Error ? cause.message : String(cause))
  const which = unwritten === 1 ? '1 session is' : `${unwritten} sessions are`
  return {
    path: dir,
    message: `${unwritten > 0 ? `${which} missing or not up to date: ` : ''}cannot write here (${reason})`,
    hint: 'All other sessions are complete. Make the folder writable, or free some space.',
  }
}
