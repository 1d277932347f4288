import { randomBytes } from 'node:crypto'
import { linkSync, lstatSync, mkdirSync, renameSync, unlinkSync, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { string } from '#base'
import type { TranscriptFile } from '#sources'

/** What is compared or copied before other work gets its turn. */
const CHUNK = 1024 * 1024
/** What is looked at, of a copy that is brought up to date, behind its beginning and before its end. */
const SAMPLE = 64 * 1024

/** Refusals of a hard link that a copy does not get. */
const CANNOT_LINK: ReadonlySet<string> = new Set([
  'EXDEV',
  'EPERM',
  'EMLINK',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
])

export type LinkFile = (existing: string, path: string) => void

export function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}

export function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether a file is there, or nobody may look: what is not known to be gone is not removed. */
export function mayBeThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/**
 * Gives an open file a second name, in place of what has that name. Says `false` where the file system cannot. What is
 * linked is what was opened, whoever changes names meanwhile.
 */
export function linkOver(original: TranscriptFile, target: string, link: LinkFile = linkSync): boolean {
  const temporary = temporaryFor(target)
  try {
    link(original.path, temporary)
  } catch (error) {
    if (CANNOT_LINK.has(string(error, 'code') ?? '')) return false
    throw error
  }
  const made = lstatSync(temporary)
  if (!made.isFile() || identityOf(made) !== original.identity) {
    unlinkSync(temporary)
    throw new Error(`${original.path} was replaced while it was linked`)
  }
  renameSync(temporary, target)
  return true
}

/** Copies an open file, as long as it was when it was opened, in place of what has that name. Durable when done. */
export async function copyOver(original: TranscriptFile, target: string): Promise<void> {
  const temporary = temporaryFor(target)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await copyRange(original, file, 0)
    } finally {
      await file.close()
    }
    renameSync(temporary, target)
  } catch (error) {
    removeIfThere(temporary)
    throw error
  }
}

/** Adds to a copy of ours what its original has more. Never to a link: that would be the agent's own file. */
export async function extendCopy(original: TranscriptFile, target: string, from: number): Promise<void> {
  const file = await open(target, 'r+')
  try {
    await copyRange(original, file, from)
  } finally {
    await file.close()
  }
}

async function copyRange(original: TranscriptFile, file: FileHandle, from: number): Promise<void> {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(1, original.size - from)))
  for (let at = from; at < original.size;) {
    const count = await original.read(chunk, Math.min(chunk.length, original.size - at), at)
    if (count === 0) break
    for (let done = 0; done < count;) {
      const { bytesWritten } = await file.write(chunk, done, count - done, at + done)
      done += bytesWritten
    }
    at += count
  }
  await file.utimes(original.modifiedMs / 1000, original.modifiedMs / 1000)
  await file.datasync()
}

/** Whether all bytes of one file are the beginning of the other. `sample`: only those at both ends are compared. */
export async function isBeginning(
  kept: TranscriptFile,
  original: TranscriptFile,
  extent: 'all' | 'sample',
): Promise<boolean> {
  if (kept.size > original.size) return false
  if (extent === 'all' || kept.size <= 2 * SAMPLE) return isSame(kept, original, { from: 0, to: kept.size })
  return (
    (await isSame(kept, original, { from: 0, to: SAMPLE })) &&
    (await isSame(kept, original, { from: kept.size - SAMPLE, to: kept.size }))
  )
}

async function isSame(
  a: TranscriptFile,
  b: TranscriptFile,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const length = Math.min(CHUNK, to - from)
  const [left, right] = [Buffer.allocUnsafe(length), Buffer.allocUnsafe(length)]
  for (let at = from; at < to; at += length) {
    const wanted = Math.min(length, to - at)
    const counts = await Promise.all([a.read(left, wanted, at), b.read(right, wanted, at)])
    if (counts[0] !== wanted || counts[1] !== wanted) return false
    if (left.compare(right, 0, wanted, 0, wanted) !== 0) return false
    await setImmediate()
  }
  return true
}

/** Gives a kept file a further name under `versions`, the next free one, so that its own may be given to another. */
export function setAside(target: string, versions: string): string {
  makeFolder(dirname(versions))
  for (let n = 1; ; n++) {
    const version = `${versions}.${n}`
    if (findStats(version) !== undefined) continue
    try {
      linkSync(target, version)
    } catch (error) {
      if (!CANNOT_LINK.has(string(error, 'code') ?? '')) throw error
      renameSync(target, version)
    }
    return version
  }
}

function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

function temporaryFor(target: string): string {
  makeFolder(dirname(target))
  return join(dirname(target), `.${randomBytes(6).toString('hex')}.tmp`)
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It was never made.
  }
}
