import { claudeFormat, openTranscript, readForward, readPageBefore } from '#sources'
import { peakMemoryKb } from './peak-memory.ts'

/**
 * A program of its own for the memory test: reads a transcript whole, then its last page, and prints what it found
 * and the most memory it ever had.
 */
const [path = ''] = process.argv.slice(2)
const before = peakMemoryKb()
const counts = { entries: 0, oversize: 0, damage: 0, page: 0 }
const file = openTranscript(path)
for await (const { readings } of readForward(file, claudeFormat)) {
  for (const reading of readings) {
    if (reading.kind === 'damage') counts.damage++
    else if (reading.entry.kind === 'oversize') counts.oversize++
    else counts.entries++
  }
}
counts.page = (await readPageBefore(file, claudeFormat, { limit: 50 })).readings.length
file.close()
const peakMb = Math.round(peakMemoryKb() / 1024)
process.stdout.write(JSON.stringify({ ...counts, peakMb, growthMb: peakMb - Math.round(before / 1024) }))
