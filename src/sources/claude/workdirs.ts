import type { Reading } from '#model'
import { setImmediate } from 'node:timers/promises'
import { CHUNK, MAX_LINE, readForward } from '../forward.ts'
import { lineReaderOf } from '../salvage.ts'
import { openTranscript, type Meter, type TranscriptFile } from '../transcript-file.ts'
import { glimpse, glimpseEnd } from './glimpse.ts'
import { claudeFormat } from './read-line.ts'

/**
 * Collects working directories without reading lines: looks for the key's bytes, and reads a line only when the
 * value behind them is none that is known already. What may be shown depends on it, so it is exact: a value counts
 * as known only where it was a line's own, and of a damaged line every record that can be saved is asked.
 */
export class WorkdirFinder {
  readonly found: Set<string> = new Set()
  /** The found ones, as the bytes behind the key. */
  readonly #known: Buffer[] = []

  add(workdir: string): void {
    if (this.found.has(workdir)) return
    this.found.add(workdir)
    this.#known.push(Buffer.from(`:${JSON.stringify(workdir)}`))
  }

  /** Looks through whole lines. */
  search(bytes: Buffer, from: number, to: number): void {
    for (let at = bytes.indexOf(NEEDLE, from); at >= 0 && at < to; at = bytes.indexOf(NEEDLE, at + 1)) {
      if (!this.#isKnown(bytes, at + NEEDLE.length)) this.#readLineAround(bytes, at, from, to)
    }
  }

  #isKnown(bytes: Buffer, from: number): boolean {
    for (const known of this.#known) {
      let same = 0
      while (same < known.length && known[same] === bytes[from + same]) same++
      if (same === known.length) return true
    }
    return false
  }

  #readLineAround(bytes: Buffer, at: number, from: number, to: number): void {
    const start = Math.max(bytes.lastIndexOf(NEWLINE, at) + 1, from)
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline < 0 ? to : Math.min(newline, to)
    const seen = glimpseEnd(bytes, start, end)
    const line =
      seen?.cwd === undefined && seen?.relocatedCwd === undefined ? glimpse(bytes, start, end) : seen
    if (line?.cwd !== undefined) this.add(line.cwd)
    if (line?.relocatedCwd !== undefined) this.add(line.relocatedCwd)
    if (line === undefined) {
      const saved: Reading[] = []
      lineReaderOf(claudeFormat).readLine(bytes, { from: start, to: end, offset: 0 }, saved)
      addAll(saved, (workdir) => this.add(workdir))
    }
  }
}

/** Every working directory in the file that has this path. */
export async function findWorkdirsOf(path: string, meter?: Meter): Promise<readonly string[]> {
  const file = openTranscript(path, meter)
  try {
    return await findWorkdirs(file)
  } finally {
    file.close()
  }
}

/** Every working directory in a file of any size. */
async function findWorkdirs(file: TranscriptFile): Promise<readonly string[]> {
  const finder = new WorkdirFinder()
  let carry: Buffer = Buffer.alloc(0)
  for (let position = 0; position < file.size;) {
    const size = Math.min(Math.max(CHUNK, carry.length), file.size - position)
    const buffer = Buffer.allocUnsafe(carry.length + size)
    carry.copy(buffer)
    await setImmediate()
    await file.prepare?.(size, position)
    const count = file.readNow(buffer.subarray(carry.length), size, position)
    if (count === 0) break
    position += count
    const end = carry.length + count
    const whole = position >= file.size ? end : buffer.lastIndexOf(NEWLINE, end - 1) + 1
    finder.search(buffer, 0, whole)
    carry = buffer.subarray(whole, end)
    if (carry.length > MAX_LINE / 2) return await readWorkdirs(file)
  }
  return [...finder.found]
}

/** The slow way, for files with lines too long to hold. */
async function readWorkdirs(file: TranscriptFile): Promise<readonly string[]> {
  const found = new Set<string>()
  for await (const { readings } of readForward(file, claudeFormat)) {
    addAll(readings, (workdir) => found.add(workdir))
  }
  return [...found]
}

function addAll(readings: readonly Reading[], add: (workdir: string) => void): void {
  for (const reading of readings) {
    if (reading.kind === 'damage') continue
    const { entry } = reading
    if (entry.cwd !== undefined) add(entry.cwd)
    if (entry.kind === 'record' && entry.type === 'relocated' && entry.value !== undefined) add(entry.value)
  }
}

/** The end of both `cwd` and `relocatedCwd`. */
const NEEDLE = Buffer.from('wd"')
const NEWLINE = 0x0a
