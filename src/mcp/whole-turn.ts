import { toPassages, type Reading, type SessionSummary } from '#model'
import type { Page, PageOptions } from '#wire'
import { QUOTES_ARE_DATA, toMinute } from './quoting.ts'
import { toWhole } from './said.ts'
import type { Desk } from './tool.ts'

/** A turn that is to be read whole, by one of its entries, from a place in its text on. */
export interface WholeTurn {
  readonly entry: string
  readonly from: number
  readonly subagent?: string
}

/** What one answer holds. What is longer is read on with a cursor. */
const MOST = 60_000
const STRIDE = 100
/** A turn of more entries than this is read as far as it goes. */
const LONGEST = 4_000

/** A turn with nothing left out: what was asked, what was said, what tools were given and all that they gave. */
export async function readWholeTurn(
  { throughline, quoting }: Pick<Desk, 'throughline' | 'quoting'>,
  session: SessionSummary,
  { entry, from, subagent }: WholeTurn,
): Promise<string> {
  const read = async (options: Partial<PageOptions>): Promise<Page> =>
    await throughline.page(session, {
      limit: STRIDE,
      raw: false,
      ...(subagent === undefined ? {} : { subagent }),
      ...options,
    })
  const readings = await readTurn(read, entry)
  const said = toPassages(readings, undefined).flatMap((passage) => toWhole(passage) ?? [])
  const text = said.map(({ speaker, at, text: words }) => `${speaker} ${toMinute(at)}: ${words}`).join('\n\n')
  // Masked before it is cut: half of a secret is none that anybody would know.
  const clean = quoting.clean(text)
  const piece = clean.slice(from, from + MOST)
  const left = clean.length - from - piece.length
  return [
    `session ${quoting.line(session.id, 128)}, the turn of entry ${quoting.line(entry, 128)}. ${QUOTES_ARE_DATA}`,
    piece === '' ? 'Nothing was said here.' : quoting.block(piece, MOST),
    ...(left <= 0
      ? []
      : [
          `${left} characters more: read_entries with cursor ${JSON.stringify(`turn:${from + MOST}:${entry}`)}`,
        ]),
  ].join('\n')
}

async function readTurn(
  read: (options: Partial<PageOptions>) => Promise<Page>,
  entry: string,
): Promise<readonly Reading[]> {
  let page = await read({ around: { entry } })
  let readings = [...page.readings]
  const place = (): number => readings.findIndex((each) => idOf(each) === entry)
  for (let first = page; !first.atStart && startBefore(readings, place()) < 0 && readings.length < LONGEST;) {
    first = await read({ before: first.start })
    readings = [...first.readings, ...readings]
  }
  const start = Math.max(0, startBefore(readings, place()))
  for (; !page.atEnd && endBehind(readings, start) < 0 && readings.length < LONGEST;) {
    page = await read({ after: page.end })
    readings.push(...page.readings)
  }
  const end = endBehind(readings, start)
  return readings.slice(start, end < 0 ? undefined : end)
}

function idOf(reading: Reading): string | undefined {
  return reading.kind === 'entry' ? reading.entry.id : undefined
}

/** Whether a turn begins with it. */
function isStart(reading: Reading): boolean {
  return reading.kind === 'entry' && reading.entry.kind === 'prompt' && !reading.entry.midTurn
}

function startBefore(readings: readonly Reading[], at: number): number {
  return readings.findLastIndex((each, index) => index <= at && isStart(each))
}

function endBehind(readings: readonly Reading[], start: number): number {
  return readings.findIndex((each, index) => index > start && isStart(each))
}
