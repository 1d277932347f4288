import { CHUNK } from '../forward.ts'
import { ObjectScanner } from '../object-scanner.ts'
import { FieldReader } from '../field-reader.ts'
import type { TranscriptFile } from '../transcript-file.ts'

/**
 * Collects working directories without reading lines: looks for the key's bytes, and reads a line only when the
 * value behind them is new.
 */
export class WorkdirFinder {
  readonly #scanner = new ObjectScanner(['cwd', 'relocatedCwd'])
  readonly #fields = new FieldReader(this.#scanner)
  /** Every value met, as its bytes in the file, and whether it was a working directory or only looked like one. */
  readonly #known: Buffer[] = []
  readonly found: Set<string> = new Set()

  /** Looks through whole lines. */
  search(bytes: Buffer, from: number, to: number): void {
    for (let at = bytes.indexOf(NEEDLE, from); at >= 0 && at < to; at = bytes.indexOf(NEEDLE, at + 1)) {
      const value = valueAfter(bytes, at + NEEDLE.length, to)
      if (value === undefined || this.#known.some((known) => known.equals(value))) continue
      this.#readLineAround(bytes, at, from, to)
      this.#known.push(Buffer.from(value))
    }
  }

  #readLineAround(bytes: Buffer, at: number, from: number, to: number): void {
    const start = Math.max(bytes.lastIndexOf(NEWLINE, at) + 1, from)
    const newline = bytes.indexOf(NEWLINE, at)
    if (this.#scanner.scan(bytes, start, newline < 0 ? to : Math.min(newline, to)) < 0) return
    for (const key of [CWD, RELOCATED_CWD]) {
      const workdir = this.#fields.text(bytes, key)
      if (workdir !== undefined) this.found.add(workdir)
    }
  }
}

/** Every working directory in a file of any size. */
export async function findWorkdirs(file: TranscriptFile, finder: WorkdirFinder): Promise<void> {
  let carry: Buffer = Buffer.alloc(0)
  for (let position = 0; position < file.size;) {
    const size = Math.min(Math.max(CHUNK, carry.length), file.size - position)
    const buffer = Buffer.allocUnsafe(carry.length + size)
    carry.copy(buffer)
    const count = await file.read(buffer.subarray(carry.length), size, position)
    if (count === 0) return
    position += count
    const end = carry.length + count
    const whole = position >= file.size ? end : buffer.lastIndexOf(NEWLINE, end - 1) + 1
    finder.search(buffer, 0, whole)
    carry = buffer.subarray(whole, end)
  }
}

const CWD = 0
const RELOCATED_CWD = 1

/** The end of both `cwd` and `relocatedCwd`. */
const NEEDLE = Buffer.from('wd"')
const NEWLINE = 0x0a
const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20

/** The string after `": "`, as it stands in the file; longer ones than a path can be are nobody's workdir. */
function valueAfter(bytes: Buffer, from: number, to: number): Buffer | undefined {
  let at = from
  while (bytes[at] === SPACE) at++
  if (bytes[at] !== COLON) return undefined
  at++
  while (bytes[at] === SPACE) at++
  if (bytes[at] !== QUOTE) return undefined
  const end = bytes.indexOf(QUOTE, at + 1)
  return end < 0 || end > to || end - at > 8192 ? undefined : bytes.subarray(at, end)
}
