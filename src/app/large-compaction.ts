import {
  createChain,
  toMessages,
  toTurns,
  type CompactionRecord,
  type Entry,
  type SessionSummary,
} from '#model'
import { toSummarised, toTurnExtract, type CompactOptions, type TurnExtract } from '#restore'
import { formatOf, openTranscript, readForward, type TranscriptFile } from '#sources'

/** Turns that stay unless somebody says otherwise. */
const KEEP_TURNS = 10

/**
 * Compacts a session that is too large to be held: read twice from front to back, once for the way through it and once
 * for what was said. At no time more is held than the turns that stay, one more, and a short extract of each other one.
 */
export async function readLargeCompaction(
  session: SessionSummary,
  options: CompactOptions,
): Promise<CompactionRecord | undefined> {
  const file = openTranscript(session.path)
  try {
    const path = await readPath(file)
    const { extracts, kept, before } = await readTurns(
      file,
      path,
      Math.max(1, options.keepTurns ?? KEEP_TURNS),
    )
    return extracts.length === 0 ? undefined : await toSummarised(extracts, kept, { ...options, before })
  } finally {
    file.close()
  }
}

/** The ids of the active path. */
async function readPath(file: TranscriptFile): Promise<ReadonlySet<string>> {
  const chain = createChain()
  for await (const { readings } of readForward(file, formatOf(file.path))) {
    for (const reading of readings) if (reading.kind === 'entry') chain.add(withoutRaw(reading.entry))
  }
  return new Set(chain.finish().path)
}

async function readTurns(
  file: TranscriptFile,
  path: ReadonlySet<string>,
  keepTurns: number,
): Promise<{
  readonly extracts: readonly TurnExtract[]
  readonly kept: readonly Entry[]
  readonly before: number
}> {
  const extracts: TurnExtract[] = []
  const waiting: Entry[][] = []
  let before = 0
  for await (const { readings } of readForward(file, formatOf(file.path))) {
    for (const reading of readings) {
      if (reading.kind === 'damage' || !path.has(reading.entry.id)) continue
      const { entry } = reading
      // What a compaction of the agent's own left stands in its line.
      const told = entry.kind === 'compaction' ? [entry, ...(entry.history ?? [])] : [entry]
      for (const each of told) {
        const isStart = each.kind === 'prompt' && !each.midTurn
        if (isStart || waiting.length === 0) waiting.push([])
        // Bytes of a batch are shared: what is kept has to have its own.
        waiting.at(-1)?.push({ ...each, raw: Uint8Array.from(each.raw) })
      }
      if (entry.kind === 'reply' && !entry.synthetic && entry.usage !== undefined) {
        const { input, output, cacheRead, cacheCreation } = entry.usage
        before = input + output + cacheRead + cacheCreation
      }
      while (waiting.length > keepTurns) {
        const [turn] = toTurns(toMessages(waiting.shift() ?? []))
        if (turn !== undefined) extracts.push(toTurnExtract(turn, extracts.length + 1))
      }
    }
  }
  return { extracts, kept: waiting.flat(), before }
}

function withoutRaw(entry: Entry): Entry {
  return { ...entry, raw: NO_BYTES }
}

const NO_BYTES = new Uint8Array(0)
