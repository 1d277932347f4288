import { setImmediate } from 'node:timers/promises'
import { isObject, number, parseJson, string, ThroughlineError } from '#base'
import { isSaidElsewhere, workOf, type Entry, type Reading, type SessionSummary } from '#model'
import { cursorAt, formatOf, lineReaderOf, openTranscript, type TranscriptFile } from '#sources'
import {
  createMatcher,
  entryMatches,
  fileMatches,
  toSearchText,
  toSnippet,
  type Matcher,
  type Query,
  type SearchText,
} from '#store'
import type { SearchHit, SearchPage, SearchTier } from '#wire'
import { createLineFilter, type LineFilter } from './scan-search-filter.ts'
import { createScratch, readStretches, type LineStretch, type Scratch } from './scan-search-lines.ts'
import { isDelivered } from './scan-search-queue.ts'
import { findCalledTool } from './scan-search-tool.ts'

export interface ScanSearchOptions {
  /** Most recently active first. */
  readonly sessions: readonly SessionSummary[]
  readonly query: Query
  readonly limit: number
  /** `next` of another page. */
  readonly cursor?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** How long others wait at most, in milliseconds, a very long line aside. */
const TURN = 10

/**
 * Searches the transcripts themselves, where there is no index: the same matches, newest session first and its last
 * entry first. Reads until the page is full, so it knows how many there are only when it came to the end.
 */
export async function scanSearch(options: ScanSearchOptions): Promise<SearchPage> {
  const { query, limit, signal } = options
  const hits: SearchHit[] = []
  const scan: Scan = {
    ...options,
    matcher: createMatcher(query),
    filter: createLineFilter(query),
    scratch: createScratch(),
    hits,
    unreadable: 0,
    turnEnds: performance.now() + TURN,
  }
  const page = (next?: Position): SearchPage => ({
    hits,
    ...(next === undefined ? {} : { next: toCursor(next) }),
    total: { count: hits.length, exact: next === undefined && options.cursor === undefined },
    notes: scan.unreadable === 0 ? query.notes : [...query.notes, unreadableNote(scan.unreadable)],
    index: 'none',
  })
  if (query.isEmpty || limit < 1) return page()
  let position = options.cursor === undefined ? undefined : readCursor(options.cursor)
  for (const session of options.sessions) {
    if (position !== undefined && session.id !== position.session) continue
    const isWanted = position !== undefined || canMatch(query, session)
    for (const [subagent, path] of filesOf(session)) {
      if (position !== undefined && position.subagent !== subagent) continue
      const before = position?.before
      position = undefined
      if (!isWanted) continue
      signal?.throwIfAborted()
      const stopped = await scanFile(scan, { session, subagent, path, before })
      if (stopped !== undefined) return page({ session: session.id, subagent, before: stopped })
    }
  }
  if (position !== undefined) {
    throw new ThroughlineError('cursor-void', 'the session that the cursor names is not there any more', {
      hint: 'Search again without a cursor.',
    })
  }
  return page()
}

interface Scan extends ScanSearchOptions {
  readonly matcher: Matcher
  readonly filter: LineFilter
  readonly scratch: Scratch
  readonly hits: SearchHit[]
  unreadable: number
  turnEnds: number
}

interface Place {
  readonly session: SessionSummary
  /** Empty for the session's own file. */
  readonly subagent: string
  readonly path: string
  readonly before: number | undefined
}

/** Adds the hits of a file, the last one first. When the page is full, gives the offset to go on from. */
async function scanFile(scan: Scan, place: Place): Promise<number | undefined> {
  let file: TranscriptFile
  try {
    file = openTranscript(place.path)
  } catch {
    scan.unreadable++
    return undefined
  }
  try {
    const before = Math.min(place.before ?? file.size, file.size)
    const { elsewhere } = formatOf(place.path)
    for await (const stretch of readStretches(file, before, scan.scratch)) {
      for (const line of scan.filter.find(stretch.bytes, stretch.to, elsewhere).toReversed()) {
        const full = await scanLine(scan, { ...place, file }, { ...stretch, line })
        if (full !== undefined) return full
      }
      if (performance.now() >= scan.turnEnds) await takeTurns(scan)
    }
    return undefined
  } finally {
    file.close()
  }
}

async function scanLine(
  scan: Scan,
  place: Place & { readonly file: TranscriptFile },
  { bytes, offset, line }: LineStretch & { readonly line: { readonly from: number; readonly to: number } },
): Promise<number | undefined> {
  const readings: Reading[] = []
  const { path } = place
  lineReaderOf(formatOf(path)).readLine(bytes, { ...line, offset: offset + line.from, path }, readings)
  for (const reading of readings.toReversed()) {
    if (reading.kind === 'damage') continue
    const hit = toHit(scan, place, reading.entry)
    if (hit === undefined || (await isDelivered(place.file, reading.entry))) continue
    // One more than fits says that there is a next page.
    if (scan.hits.length >= scan.limit) return reading.entry.place.offset + reading.entry.place.length
    scan.hits.push(hit)
  }
  if (performance.now() >= scan.turnEnds) await takeTurns(scan)
  return undefined
}

async function takeTurns(scan: Scan): Promise<void> {
  await setImmediate()
  scan.signal?.throwIfAborted()
  scan.turnEnds = performance.now() + TURN
}

const TIERS: readonly SearchTier[] = ['said', 'thought', 'tool']

function toHit(
  { query, matcher }: Scan,
  { session, subagent, file }: Place & { readonly file: TranscriptFile },
  entry: Entry,
): SearchHit | undefined {
  const found = toSearchText(entry)
  if (found === undefined || isSaidElsewhere(session, entry.at)) return undefined
  const at = entry.at === undefined ? Number.NaN : Date.parse(entry.at)
  const { kind } = workOf(entry)
  const traits = { ...found, kind, at: Number.isNaN(at) ? undefined : at }
  // The tool of a result is named by its call, which is looked for only if everything else fits.
  const anyTool = { ...query.facets, tools: { any: [], none: [] } }
  if (!entryMatches(anyTool, traits)) return undefined
  const where = TIERS.find((tier) => isIn(query, tier) && isFound(matcher, found.text[tier]))
  if (where === undefined) return undefined
  const tool = found.tool ?? findToolOf(file, found, entry)
  if (!entryMatches(query.facets, { ...traits, tool })) return undefined
  const end = entry.place.offset + entry.place.length
  return {
    session: {
      id: session.id,
      agent: session.agent,
      name: session.name,
      workdir: session.workdirs[0],
      ...(session.demo === undefined ? {} : { demo: session.demo }),
    },
    ...(subagent === '' ? {} : { subagent }),
    entry: {
      id: entry.id,
      kind,
      at: entry.at,
      place: entry.place,
      cursor: cursorAt(file, Math.min(end + 1, file.size)),
    },
    where,
    ...(tool === undefined ? {} : { tool }),
    isError: found.isError,
    snippet: toSnippet(found.text[where] ?? '', matcher),
  }
}

function isFound(matcher: Matcher, text: string | undefined): boolean {
  return text !== undefined && matcher.matches(text)
}

function isIn({ facets: { tiers } }: Query, tier: SearchTier): boolean {
  return (tiers.any.length === 0 || tiers.any.includes(tier)) && !tiers.none.includes(tier)
}

function findToolOf(file: TranscriptFile, { callIds }: SearchText, entry: Entry): string | undefined {
  const [callId] = callIds
  return workOf(entry).kind === 'result' && callId !== undefined
    ? findCalledTool(file, callId, entry.place.offset)
    : undefined
}

/** Whether a session can have a hit, from what is known of it as a whole. */
function canMatch(
  { facets }: Query,
  { agent, id, workdirs, createdAt, lastActivityAt }: SessionSummary,
): boolean {
  if (!fileMatches(facets, { agent, session: id, workdirs })) return false
  const first = Date.parse(createdAt ?? '')
  const last = Date.parse(lastActivityAt ?? '')
  return (
    !(facets.from !== undefined && last < facets.from) && !(facets.to !== undefined && first >= facets.to)
  )
}

function filesOf(session: SessionSummary): readonly (readonly [subagent: string, path: string])[] {
  return [['', session.path], ...session.subagents.map(({ id, path }) => [id, path] as const)]
}

/** Where the next page begins: before an offset of one file. */
interface Position {
  readonly session: string
  readonly subagent: string
  readonly before: number
}

const MARK = 'scan.'

function toCursor(position: Position): string {
  return MARK + Buffer.from(JSON.stringify(position)).toString('base64url')
}

function readCursor(cursor: string): Position {
  const value = cursor.startsWith(MARK)
    ? parseJson(Buffer.from(cursor.slice(MARK.length), 'base64url').toString())
    : undefined
  const session = string(value, 'session')
  const subagent = string(value, 'subagent')
  const before = number(value, 'before')
  if (
    !isObject(value) ||
    session === undefined ||
    subagent === undefined ||
    before === undefined ||
    before < 0
  ) {
    throw new ThroughlineError('request-invalid', 'this is no cursor of a search without an index', {
      hint: 'Give the `next` of a page as it is, or search again without a cursor.',
    })
  }
  return { session, subagent, before: Math.floor(before) }
}

function unreadableNote(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'} could not be read, and may have matches too.`
}
