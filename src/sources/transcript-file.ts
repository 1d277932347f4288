import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  read,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs'
import { basename, dirname, isAbsolute, resolve as resolvePath } from 'node:path'
import { ThroughlineError } from '#base'
import { withHistory } from './codex/history-base.ts'
import { asLines } from './codex/json-rollout.ts'
import type { Seam } from './seams.ts'
import { findFiller, unreached, type FileRange, type Filler } from './filler.ts'

/** An open transcript. Other people's file: opened for reading, never for anything else. */
export interface TranscriptFile {
  readonly path: string
  /** At the time of opening. */
  readonly size: number
  /** Tells this file from another one that takes its name later. */
  readonly identity: string
  readonly modifiedMs: number
  /** The room it takes on the disk, in bytes, of one that is in one piece there. */
  readonly allocated?: number | undefined
  /** Where its pieces meet, of one that is kept in several files. */
  readonly seams?: readonly Seam[] | undefined
  /** Reads up to `length` bytes at `position` into `target`; fewer only at the end of the file. */
  read(target: Buffer, length: number, position: number): Promise<number>
  /** Throws `team-unreached` for what is on another machine and not here. */
  readNow(target: Buffer, length: number, position: number): number
  /** Fetches what is to be read at once. Not there: everything is here. */
  readonly prepare?: ((length: number, position: number) => Promise<void>) | undefined
  /** Whether it could be read at once. Not there: everything could. */
  readonly has?: ((length: number, position: number) => boolean) | undefined
  close(): void
}

/**
 * Opens a transcript by its real path: no link is followed, in its last part or on the way to it, and nobody waits on
 * a pipe or a device. What was opened is asked, not the path: a folder may become a link while it is opened.
 */
export function openTranscript(path: string, meter?: Meter): TranscriptFile {
  const file = openPlainFile(path, meter)
  if (!basename(path).startsWith('rollout-')) return file
  try {
    return path.endsWith('.json') ? asLines(file) : withHistory(file, (other) => openPlainFile(other, meter))
  } catch (error) {
    file.close()
    throw error
  }
}

/** The same of the bytes of this very file, without what its agent keeps of the same session in others. */
export function openPlainFile(path: string, meter?: Meter): TranscriptFile {
  const fd = openRegular(path)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile() || !isWhatWasAsked(fd, path, stats)) throw notATranscript(path)
    const identity = `${stats.dev}:${stats.ino}`
    const filler = findFiller(path)
    const file: TranscriptFile = {
      path,
      size: stats.size,
      identity,
      modifiedMs: stats.mtimeMs,
      ...(filler === undefined && { allocated: stats.blocks * 512 }),
      read: (target, length, position) => readWhole(fd, target, length, position, meter),
      readNow(target, length, position) {
        let filled = 0
        while (filled < length) {
          const count = readSync(fd, target, filled, length - filled, position + filled)
          if (count === 0) break
          filled += count
        }
        if (meter) meter.bytesRead += filled
        return filled
      },
      close: () => closeSync(fd),
    }
    return filler === undefined ? file : filledBy(filler, file)
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** A file of another machine: what is read of it is fetched first. */
function filledBy(filler: Filler, file: TranscriptFile): TranscriptFile {
  const { path, identity, size } = file
  const rangeOf = (length: number, position: number): FileRange => ({
    path,
    identity,
    from: Math.min(position, size),
    to: Math.min(position + length, size),
  })
  return {
    ...file,
    async read(target, length, position) {
      await filler.ensure(rangeOf(length, position))
      return await file.read(target, length, position)
    },
    readNow(target, length, position) {
      const range = rangeOf(length, position)
      if (!filler.has(range)) {
        filler.miss(range)
        throw unreached(path)
      }
      return file.readNow(target, length, position)
    },
    prepare: (length, position) => filler.ensure(rangeOf(length, position)),
    has: (length, position) => filler.has(rangeOf(length, position)),
  }
}

/** Counts work, so that a test can say what an operation may cost. */
export interface Meter {
  bytesRead: number
}

function openRegular(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | NO_FOLLOW | NO_WAIT)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new ThroughlineError('transcript-gone', `${path} is not there any more`, {
        hint: 'List the sessions again with `throughline ls`.',
        cause,
      })
    }
    if (code === 'ELOOP') throw notATranscript(path)
    throw new ThroughlineError('not-a-transcript', `cannot open ${path}: ${String(code)}`, {
      hint: 'Check that you may read the file.',
      cause,
    })
  }
}

/** Whether the open file is the one of this very path, or was when it was opened and has been moved or deleted since. */
function isWhatWasAsked(fd: number, path: string, { dev, ino }: Stats): boolean {
  const asked = isAbsolute(path) ? path : resolvePath(path)
  if (!HAS_PROC) {
    const stats = statSync(asked, { throwIfNoEntry: false })
    return realPathOf(asked) === asked && stats?.dev === dev && stats.ino === ino
  }
  const opened = readlinkSync(`/proc/self/fd/${fd}`)
  if (opened === asked || opened === `${asked} (deleted)`) return true
  // Moved between two calls: then no link stands on the way, neither now nor where it went.
  return realPathOf(dirname(asked)) === dirname(asked) && dirname(opened) === dirname(asked)
}

const HAS_PROC = existsSync('/proc/self/fd')

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

// Windows has neither flag, nor links that a user without rights could plant.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
const NO_WAIT = constants.O_NONBLOCK ?? 0

function notATranscript(path: string): ThroughlineError {
  return new ThroughlineError('not-a-transcript', `${path} is not a regular file`, {
    hint: 'Links, pipes and devices are not followed, and no link on the way to it is. Give its real path.',
  })
}

async function readWhole(
  fd: number,
  target: Buffer,
  length: number,
  position: number,
  meter: Meter | undefined,
): Promise<number> {
  let filled = 0
  while (filled < length) {
    const at = filled
    const count = await new Promise<number>((resolve, reject) => {
      read(fd, target, at, length - at, position + at, (error, bytes) =>
        error ? reject(error) : resolve(bytes),
      )
    })
    if (count === 0) break
    filled += count
  }
  if (meter) meter.bytesRead += filled
  return filled
}
