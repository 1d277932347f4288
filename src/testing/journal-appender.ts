/**
 * A writer to be killed: appends numbered lines without end, and prints `open`, then the number of each line that
 * was acknowledged.
 *
 *     node dist/testing/journal-appender.js <journal> <first number> <seed> <greatest size>
 */
import { writeSync } from 'node:fs'
import { openJournal } from '#journal'
import { randomFrom } from './xorshift.ts'

const [path = '', first = '0', seed = '1', greatest = '1000000'] = process.argv.slice(2)
const APPENDERS = 6

const random = randomFrom(Number(seed))
let next = Number(first)

const journal = await openJournal(path)
say('open')
await Promise.all(Array.from({ length: APPENDERS }, appendForEver))

async function appendForEver(): Promise<void> {
  for (;;) {
    const n = next++
    const size = sizeOfLine()
    await journal.append({ n, size, text: 'x'.repeat(size) })
    say(String(n))
  }
}

function sizeOfLine(): number {
  const kind = random()
  if (kind < 0.05) return Number(greatest)
  if (kind < 0.15) return 200_000
  return Math.floor(random() * 3_000)
}

/** Straight into the pipe: a stream of Node would keep it back, and a kill would take it along. */
function say(text: string): void {
  writeSync(1, `${text}\n`)
}
