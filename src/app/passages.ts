import { countsAsMessage, createChain, createPassageFold, toPassages, type Passage } from '#model'
import { formatOf, readForward, readPageBefore, type TranscriptFile } from '#sources'

/** Everything in file order, about a turn at a time. */
export async function* readPassages(file: TranscriptFile): AsyncGenerator<readonly Passage[]> {
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
export async function readLastPassages(file: TranscriptFile, count: number): Promise<readonly Passage[]> {
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
