import { setImmediate } from 'node:timers/promises'
import { CHUNK, MAX_LINE, readForward } from '../forward.ts'
import type { TranscriptFile } from '../transcript-file.ts'
import { glimpse, glimpseEnd } from './glimpse.ts'
import { claudeFormat } from './read-line.ts'

/**
 * Collects working directories without reading lines: looks for the key's bytes, and reads a line only when the
 * value behind them is new.
 */
export class WorkdirFinder {
  readonly found: Set<string> = new Set()
  /** Every value met, as its bytes in the file: a working directory, or something that only looked like one. */
  readonly #known: Buffer[] = []

  /** Takes a working directory that somebody else has read. */
  add(workdir: string): void {
    if (this.found.has(workdir)) return
    this.found.add(workdir)
    this.#known.push(Buffer.from(`:${JSON.stringify(workdir)}`))
  }

  /** Looks through whole lines. */
  search(bytes: Buffer, from: number, to: number): void {
    for (let at = bytes.indexOf(NEEDLE, from); at >= 0 && at < to; at = bytes.indexOf(NEEDLE, at + 1)) {
      const length = valueLength(bytes, at + NEEDLE.length, to)
      if (length === 0 || this.#isKnown(bytes, at + NEEDLE.length, length)) continue
      this.#readLineAround(bytes, at, from, to)
      // Also when it was none, or is written in another way than ours: it need not be looked at again.
      this.#known.push(Buffer.from(bytes.subarray(at + NEEDLE.length, at + NEEDLE.length + length)))
    }
  }

  #isKnown(bytes: Buffer, from: number, length: number): boolean {
    for (const known of this.#known) {
      if (known.length !== length) continue
      let same = 0
      while (same < length && known[same] === bytes[from + same]) same++
      if (same === length) return true
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
  }
}

/** Every working directory in a file of any size. */
export async function findWorkdirs(file: TranscriptFile): Promise<readonly string[]> {
  const finder = new WorkdirFinder()
  let carry: Buffer = Buffer.alloc(0)
  for (let position = 0; position < file.size;) {
    const size = Math.min(Math.max(CHUNK, carry.length), file.size - position)
    const buffer = Buffer.allocUnsafe(carry.length + size)
    carry.copy(buffer)
    await setImmediate()
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
    for (const reading of readings) {
      if (reading.kind === 'damage') continue
      const { entry } = reading
      if (entry.cwd !== undefined) found.add(entry.cwd)
      if (entry.kind === 'record' && entry.type === 'relocated' && entry.value !== undefined)
        found.add(entry.value)
    }
  }
  return [...found]
}

/** The end of both `cwd` and `relocatedCwd`. */
const NEEDLE = Buffer.from('wd"')
const NEWLINE = 0x0a
const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20

/** How long the colon, the string behind it and the space between are; 0 when no path can stand there. */
function valueLength(bytes: Buffer, from: number, to: number): number {
  let at = from
  while (bytes[at] === SPACE) at++
  if (bytes[at] !== COLON) return 0
  at++
  while (bytes[at] === SPACE) at++
  if (bytes[at] !== QUOTE) return 0
  const end = bytes.indexOf(QUOTE, at + 1)
  return end < 0 || end >= to || end - at > LONGEST_PATH ? 0 : end + 1 - from
}

const LONGEST_PATH = 8192
