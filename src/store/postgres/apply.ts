import { ThroughlineError } from '#base'
import { FLAGS, KINDS, SPEAKERS, TIERS } from '../entry-codes.ts'
import type { Applied, BillRow, Change, EntryRow, IndexedFile } from '../store.ts'
import type { Viewer } from './access.ts'
import { toColumn, toColumnOrNull } from './column-text.ts'
import type { Connection, Connections } from './connection.ts'
import { toIndexedText, type IndexedText } from './index-words.ts'
import { applyVoids, createWeight, toPathKey, type Weight, type WriterOptions } from './apply-voids.ts'
import { toSmallWorkdirs } from './filter.ts'
import type { Words } from './words.ts'

type Advance = Extract<Change, { kind: 'advance' }>

/** Writes changes. Everything is made ready before the first row is touched, so that little waits for others. */
export async function applyChanges(
  connections: Connections,
  changes: readonly Change[],
  options: WriterOptions & { readonly words: Words },
): Promise<Applied> {
  const advances = changes.filter((change) => change.kind === 'advance')
  checkOrigins(advances, options.origin)
  const prepared = new Map<EntryRow, PreparedEntry>()
  for (const { entries } of advances) for (const entry of entries) prepared.set(entry, prepare(entry))
  const ids = await options.words.idsOf(wordsIn(advances))
  return await connections.transact(async (connection) => {
    const weight = createWeight()
    let rows = await applyVoids(connection, changes, { ...options, weight })
    const files = await putFiles(connection, advances, options.member)
    rows += advances.length
    rows += await putBills(connection, advances, { files, ids })
    // From here on nobody else writes: numbers become visible in their order. So it comes last, and is short.
    const state = await takeNumbers(connection, advances)
    rows += await putEntries(connection, numberAll(advances, state), { files, prepared, ids, weight })
    await weight.save(connection)
    return { rows, newest: state.highest }
  })
}

/** Nobody writes in the name of another machine. */
function checkOrigins(advances: readonly Advance[], origin: string | undefined): void {
  if (origin === undefined || advances.every(({ file }) => file.origin === origin)) return
  throw new ThroughlineError('not-allowed', 'a file of another machine was to be indexed', {
    hint: 'Every machine indexes what is on it.',
  })
}

function wordsIn(advances: readonly Advance[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>([
    ['tool', new Set()],
    ['model', new Set()],
    ['workdir', new Set()],
  ])
  const add = (kind: string, text: string | undefined): void => {
    if (text !== undefined) found.get(kind)?.add(text)
  }
  for (const { entries, bills } of advances) {
    for (const { tool } of entries) add('tool', tool)
    for (const { model, workdir } of bills) {
      add('model', model)
      add('workdir', workdir)
    }
  }
  return found
}

interface PreparedEntry {
  readonly flags: number
  readonly texts: readonly (readonly [tier: number, text: IndexedText])[]
}

function prepare(entry: EntryRow): PreparedEntry {
  let flags = (entry.isError ? FLAGS.error : 0) | (entry.hasDirective ? FLAGS.directive : 0)
  const texts: [number, IndexedText][] = []
  for (const [tier, name] of TIERS.entries()) {
    const text = entry.text[name]
    if (text === undefined) continue
    flags |= FLAGS[name]
    texts.push([tier, toIndexedText(text)])
  }
  return { flags, texts }
}

/** The files by what they are, as they are in the database. */
type FileIds = ReadonlyMap<IndexedFile, number>

async function putFiles(
  connection: Connection,
  advances: readonly Advance[],
  member: Viewer,
): Promise<FileIds> {
  const ids = new Map<IndexedFile, number>()
  // In one order for everybody: two that write the same files do not wait for each other in a circle.
  const files = advances.map(({ file }) => file).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  for (const file of files) {
    const [row] = await connection.query<{ id: number }>(PUT_FILE, [
      toPathKey(file.path),
      toColumn(file.path),
      toColumn(file.origin),
      toColumn(file.agent),
      toColumn(file.session),
      toColumnOrNull(file.subagent),
      toColumn(file.createdAt),
      JSON.stringify(file.workdirs),
      file.offset,
      toColumn(file.guard),
      toColumn(file.seen),
      toColumn(file.fold),
      toColumn(file.agent.toLowerCase()),
      toColumn(file.session.toLowerCase()),
      toColumn(toSmallWorkdirs(file.workdirs)),
      member.team,
      member.person,
    ])
    if (row !== undefined) ids.set(file, row.id)
  }
  return ids
}

/** Who may see it is what the log says of the file; as long as it says nothing, only its owner. */
const PUT_FILE = `
  INSERT INTO file (key, path, origin, agent, session, subagent, created, workdirs, "offset", guard, seen, fold,
                    small_agent, small_session, small_workdirs, team, owner, scope, workdir)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
         coalesce(known.scope, 'private'), known.workdir
  FROM (SELECT 1) AS one LEFT JOIN (
    SELECT log_file.scope, log_file.workdir FROM log_file JOIN origin ON origin.id = log_file.origin
    WHERE log_file.team = $16 AND origin.team = $16 AND origin.key = $3 AND log_file.path_key = $1
    ORDER BY log_file.id DESC LIMIT 1) AS known ON true
  ON CONFLICT (team, key, origin) DO UPDATE SET
    agent = excluded.agent, session = excluded.session, subagent = excluded.subagent, created = excluded.created,
    workdirs = excluded.workdirs, "offset" = excluded."offset", guard = excluded.guard, seen = excluded.seen,
    fold = excluded.fold, small_agent = excluded.small_agent, small_session = excluded.small_session,
    small_workdirs = excluded.small_workdirs, scope = excluded.scope, workdir = excluded.workdir
  RETURNING id`

interface State {
  /** The lowest and the highest number there is, those that were taken included. */
  readonly lowest: number
  readonly highest: number
}

async function takeNumbers(connection: Connection, advances: readonly Advance[]): Promise<State> {
  const [row] = await connection.query<State>(
    'UPDATE index_state SET lowest = lowest - $1, highest = highest + $2 RETURNING lowest, highest',
    [countOf(advances, 'past'), countOf(advances, 'news')],
  )
  if (row === undefined) throw new Error('the index has no state')
  return row
}

function countOf(advances: readonly Advance[], kind: Advance['as']): number {
  return advances.reduce((sum, { as, entries }) => sum + (as === kind ? entries.length : 0), 0)
}

interface Numbered {
  readonly number: number
  readonly file: IndexedFile
  readonly entry: EntryRow
}

/** Of what a build found, the newest comes first and gets the highest numbers: so it is numbered last. */
function numberAll(advances: readonly Advance[], { lowest, highest }: State): readonly Numbered[] {
  const all: Numbered[] = []
  let next = lowest
  for (const { file, entries } of advances.filter(({ as }) => as === 'past').toReversed()) {
    for (const entry of entries) all.push({ number: next++, file, entry })
  }
  next = highest - countOf(advances, 'news') + 1
  for (const { file, entries } of advances.filter(({ as }) => as === 'news')) {
    for (const entry of entries) all.push({ number: next++, file, entry })
  }
  return all
}

interface Writing {
  readonly files: FileIds
  readonly ids: { idOf(kind: string, text: string | undefined): number | null }
}

/** What goes in one statement at most: a piece that fits the memory of both sides. */
const MOST_ROWS = 5000
const MOST_CHARACTERS = 16 * 1024 * 1024

async function putEntries(
  connection: Connection,
  numbered: readonly Numbered[],
  options: Writing & { readonly prepared: ReadonlyMap<EntryRow, PreparedEntry>; readonly weight: Weight },
): Promise<number> {
  const { files, ids, prepared, weight } = options
  let rows = 0
  for (let from = 0; from < numbered.length; from += MOST_ROWS) {
    const some = numbered.slice(from, from + MOST_ROWS)
    rows += await connection.run(
      `INSERT INTO entry (id, file, "offset", length, at, kind, speaker, tool, flags)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::smallint[],
                            $7::smallint[], $8::integer[], $9::smallint[])`,
      [
        some.map(({ number }) => number),
        some.map(({ file }) => files.get(file) ?? null),
        some.map(({ entry }) => entry.offset),
        some.map(({ entry }) => entry.length),
        some.map(({ entry }) => entry.at ?? null),
        some.map(({ entry }) => KINDS.indexOf(entry.kind)),
        some.map(({ entry }) => SPEAKERS.indexOf(entry.speaker)),
        some.map(({ entry }) => ids.idOf('tool', entry.tool)),
        some.map(({ entry }) => prepared.get(entry)?.flags ?? 0),
      ],
    )
  }
  const texts = numbered.flatMap(({ number, entry }) =>
    (prepared.get(entry)?.texts ?? []).map(([tier, text]) => ({ number, tier, ...text })),
  )
  for (const { tier, count } of texts) weight.add(tier, 1, count)
  for (const some of inPieces(texts)) {
    rows += await connection.run(
      `INSERT INTO entry_text (entry, tier, count, is_long, words, lexemes)
       SELECT entry, tier, count, is_long, words, lexemes::tsvector
       FROM unnest($1::bigint[], $2::smallint[], $3::integer[], $4::boolean[], $5::text[], $6::text[])
         AS given (entry, tier, count, is_long, words, lexemes)`,
      [
        some.map(({ number }) => number),
        some.map(({ tier }) => tier),
        some.map(({ count }) => count),
        some.map(({ isLong }) => isLong),
        some.map(({ words }) => words),
        some.map(({ lexemes }) => lexemes),
      ],
    )
  }
  return rows
}

function* inPieces<T extends { readonly words: string; readonly lexemes: string }>(
  texts: readonly T[],
): Generator<readonly T[]> {
  let piece: T[] = []
  let characters = 0
  for (const text of texts) {
    piece.push(text)
    characters += text.words.length + text.lexemes.length
    if (piece.length < MOST_ROWS && characters < MOST_CHARACTERS) continue
    yield piece
    piece = []
    characters = 0
  }
  if (piece.length > 0) yield piece
}

async function putBills(
  connection: Connection,
  advances: readonly Advance[],
  { files, ids }: Writing,
): Promise<number> {
  // The last of a key counts, and one statement takes each key once.
  const bills = new Map<string, { readonly file: number | null; readonly bill: BillRow }>()
  for (const { file, bills: of } of advances) {
    const id = files.get(file) ?? null
    for (const bill of of) bills.set(`${id} ${bill.key}`, { file: id, bill })
  }
  const all = [...bills.values()]
  for (let from = 0; from < all.length; from += MOST_ROWS) {
    const some = all.slice(from, from + MOST_ROWS)
    await connection.run(PUT_BILLS, [
      some.map(({ file }) => file),
      some.map(({ bill }) => toColumn(bill.key)),
      some.map(({ bill }) => bill.at ?? null),
      some.map(({ bill }) => ids.idOf('model', bill.model)),
      some.map(({ bill }) => ids.idOf('workdir', bill.workdir)),
      some.map(({ bill }) => bill.usage.input),
      some.map(({ bill }) => bill.usage.output),
      some.map(({ bill }) => bill.usage.cacheRead),
      some.map(({ bill }) => bill.usage.cacheCreation),
      some.map(({ bill }) => bill.usage.cacheCreation5m),
      some.map(({ bill }) => bill.usage.cacheCreation1h),
    ])
  }
  return advances.reduce((sum, { bills: of }) => sum + of.length, 0)
}

const PUT_BILLS = `
  INSERT INTO bill (file, key, at, model, workdir, input, output, cache_read, cache_creation, cache_creation_5m,
                    cache_creation_1h)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::integer[], $5::integer[], $6::bigint[],
                       $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
  ON CONFLICT (file, key) DO UPDATE SET
    at = excluded.at, model = excluded.model, workdir = excluded.workdir, input = excluded.input,
    output = excluded.output, cache_read = excluded.cache_read, cache_creation = excluded.cache_creation,
    cache_creation_5m = excluded.cache_creation_5m, cache_creation_1h = excluded.cache_creation_1h`
