import { ThroughlineError } from '#base'
import { withChangedCalls, type Reading, type SessionSummary } from '#model'
import {
  cursorAt,
  endOfRecords,
  findEntryLine,
  findLineAt,
  findTimeLine,
  formatOf,
  offsetOf,
  openTranscript,
  prepareCursor,
  readPageAfter,
  readPageBefore,
  type LineFormat,
  type Meter,
  type Page as Stretch,
  type TranscriptFile,
} from '#sources'
import type { Page, PageOptions, PagePlace } from '#wire'
import type { ChangedCalls } from './changed-calls.ts'

const NO_BYTES = new Uint8Array(0)
/** Of a session that is run and has no transcript yet. */
const NOTHING_YET: Page = { readings: [], start: '0', end: '0', atStart: true, atEnd: true }

/** A page of a session, found by seeking. */
export async function readPage(
  session: SessionSummary,
  request: PageOptions & {
    readonly meter?: Meter | undefined
    readonly changes?: ChangedCalls['find'] | undefined
  },
): Promise<Page> {
  const { subagent, raw, meter, changes } = request
  if (session.path === '' && subagent === undefined) return NOTHING_YET
  const path = subagent === undefined ? session.path : subagentPath(session, subagent)
  const file = openTranscript(path, meter)
  try {
    const page = await pageOf(file, formatOf(path), request)
    const changed = await changes?.(session.id)
    const readings =
      changed === undefined
        ? page.readings
        : page.readings.map((reading) => withChangedCalls(reading, changed))
    const end = page.end === file.size ? await endOfRecords(file, formatOf(path)) : page.end
    return {
      readings: raw === false ? readings.map(withoutRaw) : readings,
      start: cursorAt(file, page.start),
      end: cursorAt(file, end),
      atStart: page.start === 0,
      atEnd: page.end >= file.size,
    }
  } finally {
    file.close()
  }
}

async function pageOf(
  file: TranscriptFile,
  format: LineFormat,
  { limit, before, after, around }: PageOptions,
): Promise<Stretch> {
  if (around !== undefined) return await readPageAround(file, format, { limit, around })
  await prepareCursor(file, after ?? before ?? '')
  if (after !== undefined) return await readPageAfter(file, format, { limit, after: offsetOf(file, after) })
  const end = before === undefined ? {} : { before: offsetOf(file, before) }
  return await readPageBefore(file, format, { limit, ...end })
}

/** Half of the entries before the place, and the rest from it on. */
async function readPageAround(
  file: TranscriptFile,
  format: LineFormat,
  { limit, around }: { readonly limit: number; readonly around: PagePlace },
): Promise<Stretch> {
  const place = await findPlace(file, format, around)
  const half = Math.floor(limit / 2)
  const former =
    half === 0
      ? { readings: [], start: place }
      : await readPageBefore(file, format, { limit: half, before: place })
  const latter = await readPageAfter(file, format, {
    limit: Math.max(1, limit - former.readings.filter(({ kind }) => kind === 'entry').length),
    after: place,
  })
  return { readings: [...former.readings, ...latter.readings], start: former.start, end: latter.end }
}

async function findPlace(file: TranscriptFile, format: LineFormat, around: PagePlace): Promise<number> {
  if ('offset' in around) return await findLineAt(file, around.offset)
  if ('time' in around) return await findTimeLine(file, format, getTime(around.time))
  const found = await findEntryLine(file, format, around.entry)
  if (found !== undefined) return found
  throw new ThroughlineError('entry-not-found', 'the session has no entry with this id', {
    hint: 'Check the id. An entry of a subagent is asked for with that subagent.',
  })
}

function getTime(time: string): number {
  const ms = Date.parse(time)
  if (!Number.isNaN(ms)) return ms
  throw new ThroughlineError('request-invalid', 'the time is none', {
    hint: 'Write it as 2026-11-15T09:30:00Z.',
  })
}

export function withoutRaw(reading: Reading): Reading {
  return reading.kind === 'damage' ? reading : { kind: 'entry', entry: { ...reading.entry, raw: NO_BYTES } }
}

export function subagentPath(session: SessionSummary, id: string): string {
  const found = session.subagents.find((subagent) => subagent.id === id)
  if (found) return found.path
  throw new ThroughlineError('session-not-found', `session ${session.id} has no subagent ${id}`, {
    hint: 'Its subagents are listed by `throughline show`.',
  })
}
