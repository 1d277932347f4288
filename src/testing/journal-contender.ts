/**
 * A rival for a journal: for each line on its standard input it tries to open the journal, and prints `open`, or the
 * code and the message of the refusal. It keeps what it has opened until it is killed or told `close`.
 *
 *     node dist/testing/journal-contender.js <journal>
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { ThroughlineError } from '#base'
import { openJournal } from '#journal'
import type { Journal } from '#journal'

const [path = ''] = process.argv.slice(2)
let held: Journal | undefined

say('ready')
for await (const order of createInterface({ input: process.stdin })) say(await obey(order))

async function obey(order: string): Promise<string> {
  if (order === 'close') {
    await held?.close()
    return 'closed'
  }
  try {
    held = await openJournal(path)
    return 'open'
  } catch (error) {
    if (error instanceof ThroughlineError) return `${error.code} ${error.message}`
    throw error
  }
}

function say(text: string): void {
  writeSync(1, `${text}\n`)
}
