import { closeSync, mkdirSync, openSync, utimesSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes one file of a corpus, line by line. Memory is one buffer whatever the size of the file,
 * and `bytes` is what is on disk once it is closed.
 */
export interface CorpusFile {
  readonly bytes: number
  readonly lines: number
  line(text: string): void
  /** A line's bytes as they are, its newline included or missing: for damage. */
  raw(bytes: Uint8Array): void
  /** Closes the file and dates it: listings sort by mtime, so a corpus must not carry the time it was made. */
  close(modifiedAt: number): void
}

const CAPACITY = 1 << 20
const shared: Buffer = Buffer.allocUnsafe(CAPACITY)
let lent = false

export function createCorpusFile(path: string): CorpusFile {
  mkdirSync(dirname(path), { recursive: true })
  const fd = openSync(path, 'w', 0o600)
  // Subagent files are written while their parent is open, so only one file at a time can have the big buffer.
  const own = lent
  const buffer = own ? Buffer.allocUnsafe(CAPACITY >> 2) : shared
  if (!own) lent = true
  let used = 0
  let bytes = 0
  let lines = 0

  function flush(): void {
    writeWhole(fd, buffer.subarray(0, used))
    used = 0
  }

  function put(data: Uint8Array): void {
    flush()
    writeWhole(fd, data)
    bytes += data.length
  }

  return {
    get bytes() {
      return bytes
    },
    get lines() {
      return lines
    },
    line(text) {
      lines += 1
      const most = text.length * 3 + 1
      if (most > buffer.length) {
        put(Buffer.from(`${text}\n`))
        return
      }
      if (used + most > buffer.length) flush()
      const written = buffer.write(text, used) + 1
      buffer[used + written - 1] = 0x0a
      used += written
      bytes += written
    },
    raw(data) {
      lines += 1
      put(data)
    },
    close(modifiedAt) {
      flush()
      closeSync(fd)
      if (!own) lent = false
      utimesSync(path, modifiedAt / 1000, modifiedAt / 1000)
    },
  }
}

function writeWhole(fd: number, data: Uint8Array): void {
  for (let done = 0; done < data.length;) done += writeSync(fd, data, done)
}
