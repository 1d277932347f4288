import { closeSync, fstatSync, openSync, readSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What the machine can do when nothing is understood: the floor under every figure of ours. */

interface Swept {
  readonly files: number
  readonly bytes: number
  readonly lines: number
}

/** All transcripts of a config dir, subagents included, in a fixed order. */
export function transcriptsOf(configDir: string): readonly string[] {
  const projects = join(configDir, 'projects')
  return readdirSync(projects, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted()
    .map((name) => join(projects, name))
}

/** The sessions a listing shows: the files directly inside the project folders. */
function sessionsOf(configDir: string): readonly string[] {
  const projects = join(configDir, 'projects')
  return readdirSync(projects).flatMap((slug) =>
    readdirSync(join(projects, slug))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(projects, slug, name)),
  )
}

export function statAll(configDir: string): Swept {
  const paths = sessionsOf(configDir)
  let bytes = 0
  for (const path of paths) bytes += statSync(path).size
  return { files: paths.length, bytes, lines: 0 }
}

/** The same for every transcript, those of subagents too: the least a start can look at. */
export function statEvery(configDir: string): Swept {
  const paths = transcriptsOf(configDir)
  let bytes = 0
  for (const path of paths) bytes += statSync(path).size
  return { files: paths.length, bytes, lines: 0 }
}

const WINDOW = 4096

/** Opens every session and reads its first and its last 4 KB. */
export function windowAll(configDir: string): Swept {
  return readWindows(sessionsOf(configDir))
}

/** The same for every transcript, after a `stat`. */
export function windowEvery(configDir: string): Swept {
  statEvery(configDir)
  return readWindows(transcriptsOf(configDir))
}

function readWindows(paths: readonly string[]): Swept {
  const buffer = Buffer.allocUnsafe(WINDOW)
  let bytes = 0
  for (const path of paths) {
    const fd = openSync(path, 'r')
    const { size } = fstatSync(fd)
    bytes += readSync(fd, buffer, 0, WINDOW, 0)
    bytes += readSync(fd, buffer, 0, WINDOW, Math.max(0, size - WINDOW))
    closeSync(fd)
  }
  return { files: paths.length, bytes, lines: 0 }
}

export function rawReadAll(configDir: string): Swept {
  const paths = transcriptsOf(configDir)
  const buffer = Buffer.allocUnsafe(CHUNK)
  let bytes = 0
  for (const path of paths) {
    const fd = openSync(path, 'r')
    for (let got = -1; got !== 0; bytes += got) got = readSync(fd, buffer, 0, CHUNK, null)
    closeSync(fd)
  }
  return { files: paths.length, bytes, lines: 0 }
}

/** Every line decoded and parsed, the result thrown away. */
export function parseAll(configDir: string): Swept {
  return parseFiles(transcriptsOf(configDir))
}

export function parseFiles(paths: readonly string[]): Swept {
  let bytes = 0
  let lines = 0
  for (const path of paths) {
    bytes += eachLine(path, (buffer, start, end) => {
      try {
        JSON.parse(buffer.toString('utf8', start, end))
        lines += 1
      } catch {
        // The corpus has damaged lines on purpose.
      }
    })
  }
  return { files: paths.length, bytes, lines }
}

const CHUNK = 1 << 20

/** Calls back with the place of every line in a buffer that is used again. Returns the bytes read. */
function eachLine(path: string, onLine: (buffer: Buffer, start: number, end: number) => void): number {
  const fd = openSync(path, 'r')
  let buffer = Buffer.allocUnsafe(CHUNK)
  let held = 0
  let bytes = 0
  for (;;) {
    if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const got = readSync(fd, buffer, held, buffer.length - held, null)
    if (got === 0) break
    bytes += got
    const end = held + got
    let start = 0
    // What was held back has no newline in it.
    let newline = buffer.subarray(0, end).indexOf(0x0a, held)
    while (newline !== -1) {
      if (newline > start) onLine(buffer, start, newline)
      start = newline + 1
      newline = buffer.subarray(0, end).indexOf(0x0a, start)
    }
    buffer.copyWithin(0, start, end)
    held = end - start
  }
  if (held > 0) onLine(buffer, 0, held)
  closeSync(fd)
  return bytes
}
