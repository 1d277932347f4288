import { closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { ThroughlineError } from '#base'

/** An open transcript. Other people's file: opened for reading, never for anything else. */
export interface TranscriptFile {
  readonly path: string
  /** At the time of opening. */
  readonly size: number
  /** Tells this file from another one that takes its name later. */
  readonly identity: string
  readonly modifiedMs: number
  /** Reads up to `length` bytes at `position` into `target`; fewer only at the end of the file. */
  read(target: Buffer, length: number, position: number): Promise<number>
  readNow(target: Buffer, length: number, position: number): number
  close(): void
}

/**
 * Opens a transcript without following a link in its last part and without waiting on a pipe or a device; anything
 * but a regular file is refused.
 */
export function openTranscript(path: string, meter?: Meter): TranscriptFile {
  const fd = openRegular(path)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw notATranscript(path)
    return {
      path,
      size: stats.size,
      identity: `${stats.dev}:${stats.ino}`,
      modifiedMs: stats.mtimeMs,
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
  } catch (error) {
    closeSync(fd)
    throw error
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

// Windows has neither flag, nor links that a user without rights could plant.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
const NO_WAIT = constants.O_NONBLOCK ?? 0

function notATranscript(path: string): ThroughlineError {
  return new ThroughlineError('not-a-transcript', `${path} is not a regular file`, {
    hint: 'Links, pipes and devices are not followed. Put the transcript itself there.',
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
