import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import { countsAsMessage, toPassages, type Passage, type Reading, type SessionSummary } from '#model'

/** An entry in its surroundings. */
export interface Around {
  readonly readings: readonly Reading[]
  /** The entry that was asked for. */
  readonly id: string
}

const STRIDE = 200
/** How many messages are shown before it and behind it, with what stands between them. */
const BEFORE = 4
const BEHIND = 8

/** The entry with this id, or whose id begins so, and some around it; in the session or in one of its subagents. */
export async function readAround(
  throughline: Throughline,
  session: SessionSummary,
  id: string,
): Promise<Around> {
  for (const subagent of [undefined, ...session.subagents.map((one) => one.id)]) {
    const found = await findAround(throughline, session, { id, subagent })
    if (found !== undefined) return found
  }
  throw new ThroughlineError('session-not-found', `session ${session.id} has no entry ${id}`, {
    hint: 'Search for it again: `throughline search <words>` ends each hit with the line that shows it.',
  })
}

async function findAround(
  throughline: Throughline,
  session: SessionSummary,
  wanted: { readonly id: string; readonly subagent: string | undefined },
): Promise<Around | undefined> {
  const from = {
    limit: STRIDE,
    raw: false,
    ...(wanted.subagent === undefined ? {} : { subagent: wanted.subagent }),
  }
  let held: readonly Reading[] = []
  for (let after = '0'; ;) {
    const page = await throughline.page(session, { ...from, after })
    const known = held.length
    held = [...held, ...page.readings]
    const at = held.findIndex(
      (reading, place) =>
        place >= known && reading.kind === 'entry' && reading.entry.id.startsWith(wanted.id),
    )
    const reading = held[at]
    if (reading?.kind === 'entry') {
      const more = page.atEnd ? [] : (await throughline.page(session, { ...from, after: page.end })).readings
      const before = countOff(held.slice(0, at).toReversed(), BEFORE).toReversed()
      const behind = countOff([...held.slice(at + 1), ...more], BEHIND)
      return { readings: [...before, reading, ...behind], id: reading.entry.id }
    }
    if (page.atEnd || page.end === after) return undefined
    held = held.slice(-STRIDE)
    after = page.end
  }
}

/** The first so many messages, and what stands between them. */
function countOff(readings: readonly Reading[], count: number): readonly Reading[] {
  let left = count
  const end = readings.findIndex(
    (reading) => reading.kind === 'entry' && countsAsMessage(reading.entry) && left-- === 0,
  )
  return end < 0 ? readings : readings.slice(0, end)
}

/** The same for reading, with a line above what was asked for. */
export async function* passagesAround({ readings, id }: Around): AsyncGenerator<readonly Passage[]> {
  const passages = toPassages(readings, undefined)
  const at = passages.findIndex(
    (passage) => passage.kind !== 'damage' && passage.entries.some((entry) => entry.id === id),
  )
  yield passages.slice(0, at)
  yield [{ kind: 'notice', id: `at:${id}`, entries: [], level: 'warning', text: `${id} ↓` }]
  yield passages.slice(at)
}
