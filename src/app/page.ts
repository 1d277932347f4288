import { ThroughlineError } from '#base'
import type { Reading, SessionSummary } from '#model'
import {
  cursorAt,
  endOfLines,
  offsetOf,
  openTranscript,
  readPageAfter,
  readPageBefore,
  type LineFormat,
} from '#sources'
import type { Page, PageOptions } from '#wire'

const NO_BYTES = new Uint8Array(0)

/** A page of a session, found by seeking. */
export async function readPage(
  format: LineFormat,
  session: SessionSummary,
  request: PageOptions,
): Promise<Page> {
  const { limit, before, after, subagent } = request
  const file = openTranscript(subagent === undefined ? session.path : subagentPath(session, subagent))
  try {
    const page =
      after === undefined
        ? await readPageBefore(file, format, {
            limit,
            ...(before === undefined ? {} : { before: offsetOf(file, before) }),
          })
        : await readPageAfter(file, format, { limit, after: offsetOf(file, after) })
    const end = page.end === file.size ? endOfLines(file) : page.end
    return {
      readings: request.raw === false ? page.readings.map(withoutRaw) : page.readings,
      start: cursorAt(file, page.start),
      end: cursorAt(file, end),
      atStart: page.start === 0,
      atEnd: page.end >= file.size,
    }
  } finally {
    file.close()
  }
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
