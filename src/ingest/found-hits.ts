import { ThroughlineError } from '#base'
import { workOf, type Entry } from '#model'
import { cursorAt, formatOf, isZero, openTranscript, readForward, type TranscriptFile } from '#sources'
import { createMatcher, toSearchText, toSnippet, type FoundEntry, type Matcher, type Query } from '#store'
import type { IndexedHit } from './session-index.ts'

/** What was found, with the words that were found, read from the transcripts. */
export interface ShownHits {
  readonly hits: readonly IndexedHit[]
  /** Files that do not have what the index says they have. */
  readonly wrong: readonly string[]
}

/** Reads the line of every hit. One that is not there any more is left out, and its file is named. */
export async function readHits(
  found: readonly FoundEntry[],
  query: Query,
  cursors: readonly string[] = [],
): Promise<ShownHits> {
  const matcher = createMatcher(query)
  const hits: IndexedHit[] = []
  const wrong = new Set<string>()
  const files = new Map<string, TranscriptFile | undefined>()
  try {
    for (const [nth, each] of found.entries()) {
      if (!files.has(each.path)) files.set(each.path, openIfThere(each.path))
      const file = files.get(each.path)
      const hit = file === undefined ? undefined : await readHit(each, file, matcher)
      if (hit === undefined) wrong.add(each.path)
      else hits.push({ ...hit, after: cursors[nth] })
    }
  } finally {
    for (const file of files.values()) file?.close()
  }
  return { hits, wrong: [...wrong] }
}

async function readHit(
  found: FoundEntry,
  file: TranscriptFile,
  matcher: Matcher,
): Promise<IndexedHit | undefined> {
  const { offset, length } = found
  if (offset + length > file.size) return undefined
  const entry = await readEntry(file, { offset, length })
  const text = entry === undefined ? undefined : toSearchText(entry)?.text[found.where]
  if (entry === undefined || text === undefined || !matcher.matches(text)) return undefined
  return {
    path: found.path,
    number: found.number,
    subagent: found.subagent,
    entry: {
      id: entry.id,
      kind: workOf(entry).kind,
      at: entry.at,
      place: entry.place,
      cursor: cursorAt(file, await endOfLine(file, offset + length)),
    },
    where: found.where,
    tool: found.tool,
    isError: found.isError,
    snippet: toSnippet(text, matcher),
    weight: weightOf(text, matcher),
  }
}

const COUNTED = 64
/** As BM25 has them, with a text of usual length in place of the average of an index. */
const [K1, B, USUAL_LENGTH] = [1.2, 0.75, 600]

function weightOf(text: string, matcher: Matcher): number {
  const times = new Map<number, number>()
  for (const { term } of matcher.finds(text.slice(0, WEIGHED_OF), COUNTED))
    times.set(term, (times.get(term) ?? 0) + 1)
  const norm = K1 * (1 - B + (B * text.length) / USUAL_LENGTH)
  return [...times.values()].reduce((sum, count) => sum + (count * (K1 + 1)) / (count + norm), 0)
}

/** Of a long text, its beginning says enough. */
const WEIGHED_OF = 64 * 1024

async function readEntry(
  file: TranscriptFile,
  place: { readonly offset: number; readonly length: number },
): Promise<Entry | undefined> {
  const { offset, length } = place
  for await (const { readings } of readForward(file, formatOf(file.path), {
    from: offset,
    to: offset + length,
    chunk: length,
  })) {
    for (const reading of readings) {
      if (reading.kind === 'entry' && reading.entry.place.offset === offset) return reading.entry
    }
  }
  return undefined
}

const PIECE = 4096

/** Where the line that goes on here ends, its newline included. */
async function endOfLine(file: TranscriptFile, from: number): Promise<number> {
  const bytes = Buffer.allocUnsafe(PIECE)
  for (let at = from; at < file.size; at += PIECE) {
    const count = await file.read(bytes, Math.min(PIECE, file.size - at), at)
    const found = bytes.subarray(0, count).indexOf(0x0a)
    if (found >= 0) return at + found + 1
    // A line ends where zero bytes begin that a file system left behind it.
    if (isZero(bytes, 0, count)) return at
  }
  return file.size
}

function openIfThere(path: string): TranscriptFile | undefined {
  try {
    return openTranscript(path)
  } catch (error) {
    if (error instanceof ThroughlineError) return undefined
    throw error
  }
}
