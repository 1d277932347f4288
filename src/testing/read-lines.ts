import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from '#model'
import { formatOf, openTranscript, readConversation } from '#sources'
import { toJsonl } from './claude-lines.ts'
import { openTempDir } from './temp-dir.ts'

/** What the model sees of a transcript with these lines, read from a real file. */
export async function readLines(lines: readonly object[] | string): Promise<readonly Entry[]> {
  const temp = await openTempDir()
  const path = join(temp.path, 'session.jsonl')
  writeFileSync(path, typeof lines === 'string' ? lines : toJsonl(lines))
  const file = openTranscript(path)
  try {
    return (await readConversation(file, formatOf(path))).entries
  } finally {
    file.close()
    await temp.remove()
  }
}
