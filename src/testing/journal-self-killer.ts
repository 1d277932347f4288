/**
 * A writer that kills itself (SIGKILL) in its n-th operation on the file: a write after half of its bytes, any other
 * before it took place. Prints the number of each line that was acknowledged.
 *
 *     node dist/testing/journal-self-killer.js <journal> <n> <first number>
 */
import { writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { journalOn } from '#journal'
import type { JournalFile } from '#journal'

const [path = '', fatal = '0', first = '0'] = process.argv.slice(2)
let operations = 0
let appended = 0

const journal = await journalOn(path, openDeadly)
for (const burst of [[10], [20, 300_000, 30], [1_000_000, 40], [50]]) await Promise.all(burst.map(append))
await journal.close()

async function append(size: number): Promise<void> {
  const n = Number(first) + appended++
  await journal.append({ n, size, text: 'x'.repeat(size) })
  writeSync(1, `${n}\n`)
}

async function openDeadly(): Promise<JournalFile> {
  const file = await open(path, 'a+')
  return {
    read: (buffer, offset, length, position) => file.read(buffer, offset, length, position),
    stat: () => file.stat(),
    close: () => file.close(),
    async write(buffer, offset, length) {
      if (!isFatal()) return await file.write(buffer, offset, length)
      await file.write(buffer, offset, length >> 1)
      return die()
    },
    truncate: (length) => (isFatal() ? die() : file.truncate(length)),
    datasync: () => (isFatal() ? die() : file.datasync()),
  }
}

function isFatal(): boolean {
  operations += 1
  return operations === Number(fatal)
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('a process outlived its SIGKILL')
}
