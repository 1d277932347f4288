import { endOfZeros, findRunBefore, isZero, MAX_LINE, type TranscriptFile } from '#sources'

/** Whole lines of a file, from the last to the first stretch. */
export interface LineStretch {
  /** Lines stand in `bytes[0, to)`; what follows is nobody's. Valid until the next stretch is asked for. */
  readonly bytes: Buffer
  readonly to: number
  /** Where the first byte stands in the file. */
  readonly offset: number
}

/** Asked of the disk at a time: what the processor's own memory holds. */
const CHUNK = 64 * 1024
const NEWLINE = 0x0a

/** Memory for reading, used again for every file. */
export interface Scratch {
  readonly first: Buffer
  readonly second: Buffer
}

export function createScratch(): Scratch {
  return { first: Buffer.allocUnsafe(CHUNK * 2), second: Buffer.allocUnsafe(CHUNK * 2) }
}

/** Reads the lines before an offset backwards. Lines too long to hold are left out. */
export async function* readStretches(
  file: TranscriptFile,
  before: number,
  scratch: Scratch,
): AsyncGenerator<LineStretch> {
  let { first: buffer, second: other } = scratch
  let held: Buffer = buffer.subarray(0, 0)
  /** In the middle of a line that is too long: all up to the newline before it is a part of it. */
  let skips = false
  for (let start = before; start > 0;) {
    const size = Math.min(Math.max(CHUNK, held.length), start)
    start -= size
    if (buffer.length < size + held.length) buffer = Buffer.allocUnsafe((size + held.length) * 2)
    const count = file.readNow(buffer, size, start)
    // A file that became shorter meanwhile has no lines there any more.
    if (count < size) return
    if (isZero(buffer, 0, size)) {
      const zeros = endOfZeros(held, 0, held.length)
      const run = await findRunBefore(file, start, start + size + zeros)
      if (run !== undefined) {
        const rest = held.subarray(zeros)
        if (rest.length > 0) yield { bytes: rest, to: rest.length, offset: run.to }
        held = buffer.subarray(0, 0)
        skips = false
        start = run.from
        continue
      }
    }
    held.copy(buffer, size)
    let to = size + held.length
    if (skips) {
      const last = buffer.lastIndexOf(NEWLINE, to - 1)
      if (last < 0 && start > 0) continue
      skips = false
      to = last + 1
    }
    const newline = start === 0 ? -1 : buffer.subarray(0, to).indexOf(NEWLINE)
    const from = start === 0 ? 0 : newline < 0 ? to : newline + 1
    if (to > from) yield { bytes: buffer.subarray(from, to), to: to - from, offset: start + from }
    held = buffer.subarray(0, from)
    if (held.length > MAX_LINE) {
      skips = true
      held = buffer.subarray(0, 0)
    }
    const used = buffer
    buffer = other
    other = used
  }
}
