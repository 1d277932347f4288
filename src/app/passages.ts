import {
  countsAsMessage,
  createChain,
  createPassageFold,
  createRepeatFinder,
  toPassages,
  withChangedCalls,
  type Passage,
  type Reading,
  type SessionSummary,
  type Way,
} from '#model'
import { formatOf, readForward, readPageBefore, type Meter, type TranscriptFile } from '#sources'
import type { Page, PageOptions, PassageOptions } from '#wire'
import type { ChangedCalls } from './changed-calls.ts'
import { readPage, subagentPath } from './page.ts'
import { withFile } from './transcript-reading.ts'

type ToMarked = (readings: readonly Reading[]) => readonly Reading[]

/** Pages and passages of sessions, with what people changed in them before it ran. */
export function createReading(
  home: string,
  meter: Meter | undefined,
  originOf: (sessionId: string) => string | undefined,
): {
  readonly page: (session: SessionSummary, request: PageOptions) => Promise<Page>
  readonly passages: (session: SessionSummary, options?: PassageOptions) => AsyncGenerator<readonly Passage[]>
  readonly changes: ChangedCalls['find']
} {
  let changed: ChangedCalls | undefined
  const changes: ChangedCalls['find'] = async (id) => {
    // What is known of live sessions is not needed to list any.
    changed ??= (await import('./changed-calls.ts')).createChangedCalls(home, originOf)
    return await changed.find(id)
  }
  return {
    page: (session, request) => readPage(session, { ...request, meter, changes }),
    passages: (session, options) => readPassages(session, { ...options, changes }),
    changes,
  }
}

/** The conversation of a session, or of one of its subagents: all of it, or its last messages. */
async function* readPassages(
  session: SessionSummary,
  { subagent, last, changes }: PassageOptions & { readonly changes: ChangedCalls['find'] },
): AsyncGenerator<readonly Passage[]> {
  const changed = await changes(session.id)
  const toMarked: ToMarked = (readings) => readings.map((reading) => withChangedCalls(reading, changed))
  const path = subagent === undefined ? session.path : subagentPath(session, subagent)
  yield* withFile(path, async function* (file) {
    if (last === undefined) yield* readAll(file, toMarked)
    else yield await readLastPassages(file, last, toMarked)
  })
}

/** Everything in file order, about a turn at a time. */
async function* readAll(file: TranscriptFile, toMarked: ToMarked): AsyncGenerator<readonly Passage[]> {
  const fold = createPassageFold(await readWay(file))
  for await (const { readings } of readForward(file, formatOf(file.path))) {
    for (const reading of toMarked(readings)) {
      const whole = fold.add(reading)
      if (whole !== undefined) yield whole
    }
  }
  const rest = fold.finish()
  if (rest !== undefined) yield rest
}

/** The last messages, found from the end of the file. */
async function readLastPassages(
  file: TranscriptFile,
  count: number,
  toMarked: ToMarked,
): Promise<readonly Passage[]> {
  const { readings } = await readPageBefore(file, formatOf(file.path), {
    limit: count,
    counts: countsAsMessage,
  })
  return toPassages(toMarked(readings), undefined)
}

async function readWay(file: TranscriptFile): Promise<Way> {
  const chain = createChain()
  const repeats = createRepeatFinder()
  for await (const { readings } of readForward(file, formatOf(file.path))) {
    for (const reading of readings) {
      if (reading.kind !== 'entry') continue
      chain.add(reading.entry)
      repeats.add(reading.entry)
    }
  }
  const { spine, delivered } = chain.finish()
  return { spine, delivered, repeated: repeats.ids }
}
