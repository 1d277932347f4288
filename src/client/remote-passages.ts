import { countsAsMessage, createChain, createPassageFold, createRepeatFinder, toPassages } from '#model'
import type { Passage, Reading, SessionSummary } from '#model'
import type { Page, PageOptions, PassageOptions } from '#wire'
import { readRemote, type ReadPage } from './remote-readings.ts'

/** A session up to this size is asked for once and held; a larger one is asked for twice instead. */
const HELD_BYTES = 16 * 1024 * 1024

/** The passages of a session, folded here from its entries. They come without their raw lines. */
export async function* readRemotePassages(
  page: ReadPage,
  session: SessionSummary,
  { subagent, last }: PassageOptions,
): AsyncGenerator<readonly Passage[]> {
  const from = { raw: false, ...(subagent === undefined ? {} : { subagent }) }
  if (last !== undefined) {
    yield toPassages(await readLast(page, session, { ...from, limit: last }), undefined)
    return
  }
  const file =
    subagent === undefined ? session : session.subagents.find((candidate) => candidate.id === subagent)
  const held: Reading[] | undefined = (file?.size ?? Infinity) <= HELD_BYTES ? [] : undefined
  const chain = createChain()
  const repeats = createRepeatFinder()
  for await (const reading of readRemote(page, session, from)) {
    if (reading.kind === 'entry') {
      chain.add(reading.entry)
      repeats.add(reading.entry)
    }
    held?.push(reading)
  }
  const { spine, delivered } = chain.finish()
  const fold = createPassageFold({ spine, delivered, repeated: repeats.ids })
  for await (const reading of held ?? readRemote(page, session, from)) {
    const whole = fold.add(reading)
    if (whole !== undefined) yield whole
  }
  const rest = fold.finish()
  if (rest !== undefined) yield rest
}

/** The last so many entries that count as messages, and what stands between them. */
async function readLast(
  page: ReadPage,
  session: SessionSummary,
  options: PageOptions,
): Promise<readonly Reading[]> {
  const pages: (readonly Reading[])[] = []
  let missing = options.limit
  let before: string | undefined
  while (missing > 0) {
    const got: Page = await page(session, {
      ...options,
      limit: missing,
      ...(before === undefined ? {} : { before }),
    })
    pages.push(got.readings)
    for (const reading of got.readings) {
      if (reading.kind === 'entry' && countsAsMessage(reading.entry)) missing--
    }
    if (got.atStart) break
    before = got.start
  }
  return pages.toReversed().flat()
}
