import { open, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { field } from '#base'
import { readRange, syncFolder, writeWhole } from './file.ts'
import type { JournalFile } from './file.ts'
import { MAX_LINE_BYTES, NEWLINE, readLine } from './line.ts'

const CHUNK = 64 * 1024

/**
 * Ends a journal on a whole line, and gives its length, all of it on disk.
 *
 * What follows the last line that parses is a torn tail: a line without its newline, or, after a power cut, lines of
 * zeroes. It is copied to `<file>.torn-<offset>` and only then cut off. The search goes backwards from the end, and
 * needs the memory of one line.
 */
export async function setTornTailAside(file: JournalFile, path: string): Promise<number> {
  const { size } = await file.stat()
  const end = await endOfLastLine(file, size)
  if (end < size) {
    await copyAside(file, { from: end, to: size, base: `${path}.torn-${end}` })
    await file.truncate(end)
  }
  await file.datasync()
  return end
}

type Tail = { readonly from: number; readonly to: number; readonly base: string }

async function endOfLastLine(file: JournalFile, size: number): Promise<number> {
  let end = await startOfLine(file, size)
  while (end > 0) {
    const start = await startOfLine(file, end - 1)
    // A longer line than the writer takes is not one of its lines.
    const fits = end - 1 - start <= MAX_LINE_BYTES
    if (fits && 'value' in readLine(await readRange(file, start, end - 1))) return end
    end = start
  }
  return 0
}

/** The place behind the last newline before `end`. */
async function startOfLine(file: JournalFile, end: number): Promise<number> {
  let to = end
  // Small steps first: a tail of many short lines would otherwise read a large chunk for each of them.
  for (let step = 512; to > 0; step = Math.min(step * 2, CHUNK)) {
    const from = Math.max(0, to - step)
    const found = (await readRange(file, from, to)).lastIndexOf(NEWLINE)
    if (found >= 0) return from + found + 1
    to = from
  }
  return 0
}

async function copyAside(file: JournalFile, tail: Tail): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const side = attempt === 1 ? tail.base : `${tail.base}-${attempt}`
    const made = await create(side)
    if (made) {
      await fill(made, { file, tail, side })
      return
    }
    // A crash between the copy and the cut leaves the copy behind, and it may be taken as made. Any other file of
    // this name is someone's bytes: an earlier tail, or half a copy.
    if (await holds(side, file, tail)) return
  }
}

async function create(side: string): Promise<FileHandle | undefined> {
  try {
    return await open(side, 'wx', 0o600)
  } catch (error) {
    if (field(error, 'code') === 'EEXIST') return undefined
    throw error
  }
}

async function fill(
  copy: FileHandle,
  { file, tail, side }: { readonly file: JournalFile; readonly tail: Tail; readonly side: string },
): Promise<void> {
  try {
    for (let at = tail.from; at < tail.to; at += CHUNK) {
      await writeWhole(copy, await readRange(file, at, Math.min(at + CHUNK, tail.to)))
    }
    await copy.sync()
    await copy.close()
    await syncFolder(dirname(side))
  } catch (error) {
    // Half a copy is worth nothing while the tail itself is still in the journal.
    await copy.close().catch(() => {})
    await unlink(side).catch(() => {})
    throw error
  }
}

/** True when the side file is on disk with exactly the bytes of the tail. */
async function holds(side: string, file: JournalFile, tail: Tail): Promise<boolean> {
  const copy = await open(side, 'r')
  try {
    if ((await copy.stat()).size !== tail.to - tail.from) return false
    for (let at = tail.from; at < tail.to; at += CHUNK) {
      const to = Math.min(at + CHUNK, tail.to)
      const ours = await readRange(file, at, to)
      if (!ours.equals(await readRange(copy, at - tail.from, to - tail.from))) return false
    }
    await copy.sync()
    await syncFolder(dirname(side))
    return true
  } finally {
    await copy.close()
  }
}
