import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * The part of a `FileHandle` that a journal uses: the seam where a test hands it a disk that fails.
 * `write` appends, whatever the position.
 */
export interface JournalFile {
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>
  write(buffer: Uint8Array, offset: number, length: number): Promise<{ readonly bytesWritten: number }>
  truncate(length: number): Promise<void>
  datasync(): Promise<void>
  stat(): Promise<{ readonly size: number }>
  close(): Promise<void>
}

/**
 * Writes all of `bytes`, in one write(2) unless the disk stops short. `appendFile` of fs/promises would split at
 * 512 KiB. The kernel reports a disk that fills up on the way as a short count first, and as an error on the rest.
 */
export async function writeWhole(file: JournalFile, bytes: Uint8Array): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done)
    if (bytesWritten === 0) throw new Error('the disk took no byte and gave no error')
    done += bytesWritten
  }
}

/** The bytes from `start` to `end`, or fewer where the file ends before. */
export async function readRange(file: JournalFile, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(end - start)
  let done = 0
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, start + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}

/** Makes a folder (0700) and its parents, so that they survive a power cut. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  let made = folder
  while (made.length >= first.length) {
    made = dirname(made)
    await syncFolder(made)
  }
}

/** Puts the names in a folder on disk. A file that was synced is lost all the same while its name is not. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folder as a file, and keeps names by its own journal.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
