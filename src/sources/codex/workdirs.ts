import type { TranscriptFile } from '../transcript-file.ts'
import { readLinesWith } from './line-search.ts'

/** What stands in lines that say where a thread works. */
const WORDS = ['"session_meta"', '"turn_context"', '<environment_context>'].map((word) => Buffer.from(word))

/** Every working directory in a file of any size. */
export async function findWorkdirs(file: TranscriptFile): Promise<readonly string[]> {
  const found = new Set<string>()
  await readLinesWith(file, WORDS, (readings) => {
    for (const reading of readings) {
      if (reading.kind === 'entry' && reading.entry.cwd !== undefined) found.add(reading.entry.cwd)
    }
  })
  return [...found]
}
