import { ThroughlineError } from '#base'
import { writeWhole } from './file.ts'
import type { JournalFile } from './file.ts'
import { toLine } from './line.ts'
import type { Place } from '#model'
import { setTornTailAside } from './torn-tail.ts'

export interface Journal {
  /**
   * Adds one line. Resolves with its place when the line is on disk; rejects with `journal-unwritable` when that is
   * not certain, and then the line is gone again before the next one is acknowledged.
   */
  append(value: unknown): Promise<Place>
  /** Adds several lines that belong together: all of them are acknowledged, or none is in the journal. */
  appendAll(values: readonly unknown[]): Promise<readonly Place[]>
  /** Waits for the appends under way, then lets the file and its lock go. */
  close(): Promise<void>
}

type Waiting = {
  /** One line, or several that belong together. */
  readonly bytes: Buffer
  readonly resolve: (offset: number) => void
  readonly reject: (error: ThroughlineError) => void
}

type Written = { readonly entry: Waiting; readonly offset: number }

/** Later lines wait for the next fdatasync, so that a flood does not hold back the first acknowledgement. */
const BATCH_BYTES = 1024 * 1024

/**
 * An append-only JSONL file with one writer. `openFile` is called again whenever a descriptor can no longer be
 * trusted.
 *
 * [J1] A line is on disk when its `append` resolves.
 * [J2] Lines keep the order of the calls.
 * [J3] A crash or a full disk tears at most what was not acknowledged. Before the next append the torn tail is
 *      copied to `<file>.torn-<offset>` and cut off: the last line of the journal parses, and no byte is lost.
 * [J8] A descriptor whose fdatasync failed is never synced again. The kernel may have dropped the page and marked
 *      it clean, and a second fdatasync would say yes to a line that is not there.
 */
export async function journalOn(path: string, openFile: () => Promise<JournalFile>): Promise<Journal> {
  const waiting: Waiting[] = []
  let running: Promise<void> | undefined
  let closing: Promise<void> | undefined
  /** Not there between a failed fdatasync and the next successful look at the file. */
  let file: JournalFile | undefined
  /** True whenever the file may hold more than `durable` bytes. */
  let mayBeTorn = true
  /** Where the last acknowledged line ends; unknown until the file was looked at. */
  let durable: number | undefined

  await ready()

  /** The file, ending on its last acknowledged line. */
  async function ready(): Promise<{ readonly file: JournalFile; readonly start: number }> {
    if (file && !mayBeTorn && durable !== undefined) return { file, start: durable }
    const opened = file ?? (await openFile())
    file = opened
    try {
      // What lies behind the last acknowledged line was refused, so it is cut without a copy: its callers know.
      // Cut even when it looks whole: pages of a failed fdatasync may read well now and be zeroes after a power cut.
      if (durable !== undefined && (await opened.stat()).size > durable) await opened.truncate(durable)
      durable = await setTornTailAside(opened, path)
      mayBeTorn = false
      return { file: opened, start: durable }
    } catch (error) {
      await abandon()
      throw error
    }
  }

  async function abandon(): Promise<void> {
    mayBeTorn = true
    const old = file
    file = undefined
    // It is given up because it failed; that it also fails to close changes nothing.
    await old?.close().catch(() => {})
  }

  async function commit(): Promise<void> {
    do {
      while (waiting.length > 0) await commitBatch()
      // Mends at once, so that the file is whole while nobody writes. If it cannot, the next append tries again and
      // tells its caller.
      if (mayBeTorn) await ready().catch(() => {})
    } while (waiting.length > 0)
    running = undefined
  }

  /** Writes what waits, line by line, and acknowledges it with one fdatasync. Never rejects. */
  async function commitBatch(): Promise<void> {
    let written: readonly Written[] = []
    try {
      const { file: sound, start } = await ready()
      written = await writeLines(sound, start)
      if (written.length === 0) return
      await sound.datasync()
    } catch (cause) {
      const failed = written.length > 0 ? written.map(({ entry }) => entry) : waiting.splice(0)
      await abandon()
      for (const { reject } of failed) reject(unwritable(path, cause))
      return
    }
    for (const { entry, offset } of written) {
      durable = offset + entry.bytes.length
      entry.resolve(offset)
    }
  }

  async function writeLines(sound: JournalFile, start: number): Promise<readonly Written[]> {
    const written: Written[] = []
    let end = start
    while (!mayBeTorn && end - start < BATCH_BYTES) {
      const entry = waiting.shift()
      if (!entry) break
      try {
        await writeWhole(sound, entry.bytes)
        written.push({ entry, offset: end })
        end += entry.bytes.length
      } catch (cause) {
        mayBeTorn = await truncated(sound, end).then((cut) => !cut)
        entry.reject(unwritable(path, cause))
      }
    }
    return written
  }

  /** Gives the offset of the bytes once they are on disk. */
  async function add(bytes: Buffer): Promise<number> {
    return await new Promise((resolve, reject) => {
      waiting.push({ bytes, resolve, reject })
      running ??= commit()
    })
  }

  return {
    async append(value) {
      if (closing) throw closed(path)
      const line = lineOf(value, path)
      const offset = await add(line)
      return { offset, length: line.length - 1 }
    },
    async appendAll(values) {
      if (closing) throw closed(path)
      const lines = values.map((value) => lineOf(value, path))
      let offset = await add(Buffer.concat(lines))
      return lines.map(({ length }) => {
        const place = { offset, length: length - 1 }
        offset += length
        return place
      })
    },
    close() {
      closing ??= Promise.resolve(running).then(async () => await file?.close())
      return closing
    },
  }
}

async function truncated(file: JournalFile, length: number): Promise<boolean> {
  try {
    await file.truncate(length)
    return true
  } catch {
    return false
  }
}

function lineOf(value: unknown, path: string): Buffer {
  try {
    return toLine(value)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be written as JSON'
    throw new ThroughlineError('journal-unwritable', `cannot append this value to ${path}: ${reason}`, {
      hint: 'Append plain JSON: objects, lists, strings, finite numbers, true, false and null.',
      cause,
    })
  }
}

function unwritable(path: string, cause: unknown): ThroughlineError {
  return new ThroughlineError('journal-unwritable', `cannot append to ${path}`, {
    hint: 'Check the free space and the permissions of its folder, then append again.',
    cause,
  })
}

function closed(path: string): ThroughlineError {
  return new ThroughlineError('journal-closed', `${path} was closed before this append`, {
    hint: 'Open the journal again.',
  })
}
