import {
  countsAsMessage,
  createChain,
  createPassageFold,
  toPassages,
  type Passage,
  type SessionSummary,
} from '#model'
import { formatOf, readForward, readPageBefore, type TranscriptFile } from '#sources'
import type { PassageOptions } from '#wire'
import { subagentPath } from './page.ts'
import { withFile } from './transcript-reading.ts'

/** The conversation of a session, or of one of its subagents: all of it, or its last messages. */
export async function* passages(
  session: SessionSummary,
  { subagent, last }: PassageOptions = {},
): AsyncGenerator<readonly Passage[]> {
  const path = subagent === undefined ? session.path : subagentPath(session, subagent)
  yield* withFile(path, async function* (file) {
    if (last === undefined) yield* readPassages(file)
    else yield await readLastPassages(file, last)
  })
}

/** Everything in file order, about a turn at a time. */
async function* readPassages(file: TranscriptFile): AsyncGenerator<readonly Passage[]> {
  const fold = createPassageFold(await readSpine(file))
  for await (const { readings } of readForward(file, formatOf(file.path))) {
    for (const reading of readings) {
      const whole = fold.add(reading)
      if (whole !== undefined) yield whole
    }
  }
  const rest = fold.finish()
  if (rest !== undefined) yield rest
}

/** The last messages, found from the end of the file. */
async function readLastPassages(file: TranscriptFile, count: number): Promise<readonly Passage[]> {
  const { readings } = await readPageBefore(file, formatOf(file.path), {
    limit: count,
    counts: countsAsMessage,
  })
  return toPassages(readings, undefined)
}

async function readSpine(file: TranscriptFile): Promise<ReadonlySet<string>> {
  const chain = createChain()
  for await (const { readings } of readForward(file, formatOf(file.path))) {
    for (const reading of readings) if (reading.kind === 'entry') chain.add(reading.entry)
  }
  return chain.finish().spine
}
