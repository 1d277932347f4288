/**
 * A writer on a disk that is too small. Appends one line of each size in turn (the word `free` deletes the ballast
 * file instead), and prints as JSON what became of each, and which lines the journal then has.
 *
 *     node dist/testing/journal-filler.js <journal> <bytes of ballast> <size | free>...
 */
import { rm, writeFile } from 'node:fs/promises'
import { field, ThroughlineError } from '#base'
import { openJournal, readJournal } from '#journal'

const [path = '', ballast = '0', ...steps] = process.argv.slice(2)
const outcomes: string[] = []

await writeFile(`${path}.ballast`, Buffer.alloc(Number(ballast)))
const journal = await openJournal(path)
for (const [n, step] of steps.entries()) outcomes.push(await take(n, step))
await journal.close()

const present: unknown[] = []
for await (const item of readJournal(path))
  present.push(item.kind === 'line' ? field(item.value, 'n') : item.reason)
process.stdout.write(JSON.stringify({ outcomes, present }))

async function take(n: number, step: string): Promise<string> {
  if (step === 'free') {
    await rm(`${path}.ballast`)
    return 'freed'
  }
  try {
    await journal.append({ n, text: 'x'.repeat(Number(step)) })
    return 'acknowledged'
  } catch (error) {
    if (error instanceof ThroughlineError) return `${error.code} ${String(field(error.cause, 'code'))}`
    throw error
  }
}
