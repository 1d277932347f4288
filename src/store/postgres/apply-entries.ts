import { FLAGS, KINDS, SPEAKERS, TIERS } from '../entry-codes.ts'
import type { Change, EntryRow, IndexedFile } from '../store.ts'
import { toColumnOrNull } from './column-text.ts'
import type { Connection } from './connection.ts'
import { toIndexedText, type IndexedText } from './index-words.ts'

export type Advance = Extract<Change, { kind: 'advance' }>

/** The files by what they are, as they are in the database. */
export type FileIds = ReadonlyMap<IndexedFile, number>

/** An entry, ready to be written. */
interface Ready {
  /** Counted from the lowest number on, or back from the highest: see `put_entries`. */
  readonly place: number
  readonly file: IndexedFile
  readonly entry: EntryRow
  readonly flags: number
  readonly texts: readonly (IndexedText & { readonly tier: number })[]
}

/** Makes entries ready: everything that can be done before anybody waits for it. */
export function readyEntries(advances: readonly Advance[]): readonly Ready[] {
  const all: Ready[] = []
  // Of what a build found, the newest comes first and gets the highest numbers: so it is numbered last.
  for (const { file, entries } of advances.filter(({ as }) => as === 'past').toReversed()) {
    for (const entry of entries) all.push(ready(all.length, file, entry))
  }
  let place = -countOf(advances, 'news')
  for (const { file, entries } of advances.filter(({ as }) => as === 'news')) {
    for (const entry of entries) all.push(ready(place++, file, entry))
  }
  return all
}

function ready(place: number, file: IndexedFile, entry: EntryRow): Ready {
  let flags = (entry.isError ? FLAGS.error : 0) | (entry.hasDirective ? FLAGS.directive : 0)
  const texts: (IndexedText & { readonly tier: number })[] = []
  for (const [tier, name] of TIERS.entries()) {
    const text = entry.text[name]
    if (text === undefined) continue
    flags |= FLAGS[name]
    texts.push({ tier, ...toIndexedText(text) })
  }
  return { place, file, entry, flags, texts }
}

function countOf(advances: readonly Advance[], kind: Advance['as']): number {
  return advances.reduce((sum, { as, entries }) => sum + (as === kind ? entries.length : 0), 0)
}

/** Writes them; says how many rows, and which number is the highest from then on. */
export async function putEntries(
  connection: Connection,
  all: readonly Ready[],
  { files, advances }: { readonly files: FileIds; readonly advances: readonly Advance[] },
): Promise<{ readonly rows: number; readonly newest: number }> {
  let numbers = [countOf(advances, 'past'), countOf(advances, 'news')]
  let [rows, newest] = [0, 0]
  for (const some of inPieces(all)) {
    const texts = some.flatMap(({ place, file, texts: of }) =>
      of.map((text) => ({ place, file: files.get(file) ?? 0, ...text })),
    )
    const [put] = await connection.query<{ newest: number }>(PUT, [
      ...numbers,
      some.map(({ place }) => place),
      some.map(({ file }) => files.get(file) ?? 0),
      some.map(({ entry }) => entry.offset),
      some.map(({ entry }) => entry.length),
      some.map(({ entry }) => entry.at ?? null),
      some.map(({ entry }) => KINDS.indexOf(entry.kind)),
      some.map(({ entry }) => SPEAKERS.indexOf(entry.speaker)),
      some.map(({ entry }) => toColumnOrNull(entry.tool)),
      some.map(({ entry }) => toColumnOrNull(entry.tool?.toLowerCase())),
      some.map(({ flags }) => flags),
      texts.map(({ place }) => place),
      texts.map(({ file }) => file),
      texts.map(({ tier }) => tier),
      texts.map(({ count }) => count),
      texts.map(({ isLong }) => isLong),
      texts.map(({ words }) => words),
      texts.map(({ lexemes }) => lexemes),
    ])
    // Taken with the first piece; the state is ours until the end.
    numbers = [0, 0]
    newest = put?.newest ?? 0
    rows += some.length + texts.length
  }
  return { rows, newest }
}

const TYPES =
  `bigint bigint bigint[] bigint[] bigint[] bigint[] bigint[] smallint[] smallint[] text[] text[] smallint[]
  bigint[] bigint[] smallint[] integer[] boolean[] text[] text[]`.split(/\s+/)
const PUT = `SELECT put_entries(${TYPES.map((type, n) => `$${n + 1}::${type}`).join(', ')}) AS newest`

/** What goes in one statement at most: a piece that fits the memory of both sides. */
const MOST_ROWS = 5000
const MOST_CHARACTERS = 16 * 1024 * 1024

/** At least one piece, which may be empty: also where nothing is written it is asked how far the numbers are. */
function* inPieces(all: readonly Ready[]): Generator<readonly Ready[]> {
  let piece: Ready[] = []
  let characters = 0
  for (const one of all) {
    piece.push(one)
    for (const { words, lexemes } of one.texts) characters += words.length + lexemes.length
    if (piece.length < MOST_ROWS && characters < MOST_CHARACTERS) continue
    yield piece
    piece = []
    characters = 0
  }
  if (piece.length > 0 || all.length === 0) yield piece
}
