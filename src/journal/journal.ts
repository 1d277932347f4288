import { constants, open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { field, ThroughlineError } from '#base'
import { makeFolder, syncFolder } from './file.ts'
import type { JournalFile } from './file.ts'
import { takeLock } from './lock.ts'
import type { Lock } from './lock.ts'
import { createSyncThreads } from './sync-threads.ts'
import { journalOn } from './writer.ts'
import type { Journal } from './writer.ts'

/** For all journals of this process. */
const SYNC = createSyncThreads({ own: 4, threads: 16, slowMs: 2 })

/**
 * Opens a journal for appending, and makes it (0600, its folder 0700) where there is none. When it resolves, the
 * journal is locked for this process, ends on a whole line, and everything in it is on disk.
 *
 * Rejects with `journal-locked` while another writer has it, in this process or in any other, and with
 * `journal-unwritable` when it cannot be opened or mended.
 */
export async function openJournal(path: string): Promise<Journal> {
  try {
    const absolute = resolve(path)
    await makeFolder(dirname(absolute))
    const real = await realPath(absolute)
    const lock = await takeLock(real)
    try {
      const journal = await journalOn(real, () => openFile(real))
      let closing: Promise<void> | undefined
      return {
        append: (value) => journal.append(value),
        appendAll: (values) => journal.appendAll(values),
        close: () => (closing ??= closeBoth(journal, lock)),
      }
    } catch (error) {
      await lock.release()
      throw error
    }
  } catch (cause) {
    if (cause instanceof ThroughlineError) throw cause
    throw new ThroughlineError('journal-unwritable', `cannot open ${path}`, {
      hint: 'Check the free space and the permissions of its folder.',
      cause,
    })
  }
}

async function closeBoth(journal: Journal, lock: Lock): Promise<void> {
  try {
    await journal.close()
  } finally {
    await lock.release()
  }
}

/** One file, one name: two ways to a journal through symbolic links meet at the same lock. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (field(error, 'code') !== 'ENOENT') throw error
    return join(await realpath(dirname(path)), basename(path))
  }
}

async function openFile(path: string): Promise<JournalFile> {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR } = constants
  // O_NONBLOCK: where somebody put a pipe, opening must not wait for its other end. Regular files ignore it.
  const file = await open(path, O_APPEND | O_CREAT | O_RDWR | (O_NONBLOCK ?? 0), 0o600)
  try {
    if (!(await file.stat()).isFile()) throw new Error(`${path} is not a regular file`)
    // Always, not only when the file is new: the writer that made it may have died before it came so far.
    await syncFolder(dirname(path))
    return toJournalFile(file)
  } catch (error) {
    await file.close()
    throw error
  }
}

function toJournalFile(file: FileHandle): JournalFile {
  return {
    read: (buffer, offset, length, position) => file.read(buffer, offset, length, position),
    write: (buffer, offset, length) => file.write(buffer, offset, length),
    truncate: (length) => file.truncate(length),
    datasync: () => SYNC.datasync(file),
    stat: () => file.stat(),
    close: () => file.close(),
  }
}
