import type { Reading, SessionSummary } from '#model'
import type { Page, PageOptions } from '#wire'

/** Asks the daemon for one page. */
export type ReadPage = (session: SessionSummary, options: PageOptions) => Promise<Page>

/** The beginning of any file. */
const START = '0'
/** Entries per request: few round trips, and little that is thrown away by a reader who stops. */
const STRIDE = 500
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
