import { countsAsMessage, createChain, createPassageFold, toPassages } from '#model'
import type { Passage, Reading, SessionSummary } from '#model'
import type { Page, PageOptions, PassageOptions } from '#wire'

/** Asks the daemon for one page. */
export type ReadPage = (session: SessionSummary, options: PageOptions) => Promise<Page>

/** The beginning of any file. */
const START = '0'
/** Entries per request: few round trips, and little that is thrown away by a reader who stops. */
const STRIDE = 500
/** A session up to this size is asked for once and held; a larger one is asked for twice instead. */
const HELD_BYTES = 16 * 1024 * 1024

/** The most that a daemon gives at once. */
const MOST = 5000

/** A page of any length, put together from as many as it takes. */
export async function readLongPage(
  page: ReadPage,
  session: SessionSummary,
  options: PageOptions,
): Promise<Page> {
  if (options.around !== undefined && options.limit > MOST) return readLongAround(page, session, options)
  let whole = await page(session, { ...options, limit: Math.min(options.limit, MOST) })
  for (;;) {
    const isForward = options.after !== undefined
    const missing = options.limit - whole.readings.filter(({ kind }) => kind === 'entry').length
    if (missing <= 0 || options.limit <= MOST || (isForward ? whole.atEnd : whole.atStart)) return whole
    const way = isForward ? { after: whole.end } : { before: whole.start }
    const next = await page(session, { ...options, ...way, limit: Math.min(missing, MOST) })
    whole = isForward ? join(whole, next) : join(next, whole)
  }
}

/** As much as comes at once, and then about as much before it as behind it. */
async function readLongAround(
  page: ReadPage,
  session: SessionSummary,
  { around, before: _before, after: _after, ...others }: PageOptions,
): Promise<Page> {
  const middle = await page(session, { ...others, ...(around === undefined ? {} : { around }), limit: MOST })
  const missing = others.limit - MOST
  const half = Math.floor(missing / 2)
  const before =
    middle.atStart || half === 0
      ? middle
      : join(await readLongPage(page, session, { ...others, before: middle.start, limit: half }), middle)
  if (middle.atEnd) return before
  const after = { ...others, after: middle.end, limit: missing - half }
  return join(before, await readLongPage(page, session, after))
}

function join(first: Page, second: Page): Page {
  const { start, atStart } = first
  const { end, atEnd } = second
  return { readings: [...first.readings, ...second.readings], start, atStart, end, atEnd }
}

/** Everything in file order, asked for page by page. */
export async function* readRemote(
  page: ReadPage,
  session: SessionSummary,
  options: Omit<PageOptions, 'limit'>,
): AsyncGenerator<Reading> {
  let after = START
  for (;;) {
    const { readings, end, atEnd } = await page(session, { ...options, limit: STRIDE, after })
    yield* readings
    // Behind the last whole line there may be one that is being written: it is told, and the cursor stays before it.
    if (atEnd || end === after) return
    after = end
  }
}

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
  for await (const reading of readRemote(page, session, from)) {
    if (reading.kind === 'entry') chain.add(reading.entry)
    held?.push(reading)
  }
  const fold = createPassageFold(chain.finish().spine)
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
