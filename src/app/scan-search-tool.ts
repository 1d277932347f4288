import { workOf, type Reading } from '#model'
import { formatOf, lineReaderOf, type TranscriptFile } from '#sources'

/** How far before its result a call is looked for. They are neighbours, unless a tool runs for long. */
const NEAR = 128 * 1024
const FAR = 4 * 1024 * 1024
const NEWLINE = 0x0a

/** The name of the tool that was called under an id, from the lines before a place. */
export function findCalledTool(file: TranscriptFile, callId: string, before: number): string | undefined {
  const needle = Buffer.from(JSON.stringify(callId))
  for (let length = NEAR; length <= FAR; length *= 4) {
    const start = Math.max(0, before - length)
    const bytes = Buffer.allocUnsafe(before - start)
    const count = file.readNow(bytes, bytes.length, start)
    const window = bytes.subarray(0, count)
    for (let at = window.indexOf(needle); at >= 0;) {
      const from = window.lastIndexOf(NEWLINE, at) + 1
      const newline = window.indexOf(NEWLINE, at)
      const to = newline < 0 ? count : newline
      const readings: Reading[] = []
      lineReaderOf(formatOf(file.path)).readLine(window, { from, to, offset: start + from }, readings)
      const name = findName(readings, callId)
      if (name !== undefined) return name
      at = window.indexOf(needle, to)
    }
    if (start === 0) break
  }
  return undefined
}

function findName(readings: readonly Reading[], callId: string): string | undefined {
  for (const reading of readings) {
    if (reading.kind === 'damage') continue
    const entry = workOf(reading.entry)
    if (entry.kind !== 'reply') continue
    for (const block of entry.blocks) {
      if (block.kind === 'tool-use' && block.id === callId) return block.name
    }
  }
  return undefined
}
