import { ThroughlineError } from '#base'
import type { SearchTier } from '#wire'
import { FLAGS, KINDS, TIERS } from '../entry-codes.ts'
import type { Facets } from '../query-facets.ts'
import type { Found, FoundEntry, StoreRequest } from '../store.ts'
import type { Viewer } from './access.ts'
import { fromColumn, fromColumnOrNone } from './column-text.ts'
import type { Connection } from './connection.ts'
import { toFilter, type Filter } from './filter.ts'
import { createStatement, type Statement } from './statement.ts'
import { toWordSearch, type WordSearch } from './index-words.ts'
import { readIdfs, timesOf, WEIGHED, weightOf } from './weight.ts'
import type { Words } from './words.ts'

interface Place {
  readonly tier: number
  readonly skip: number
}

/** Everything that one search is about. */
interface Asked {
  readonly request: StoreRequest
  readonly words: WordSearch
  readonly filter: Filter
}

const NOTHING: Found = { hits: [], total: { count: 0, exact: true }, notes: [] }

/** Asks the index. The order, the pages and the notes are those of the index on disk. */
export async function findEntries(
  connection: Connection,
  request: StoreRequest,
  known: { readonly words: Words; readonly viewer?: Viewer | undefined },
): Promise<Found> {
  const { query, newerThan, cursor } = request
  const place = readCursor(cursor)
  const filter = await toFilter(connection, query.facets, { newerThan, ...known })
  if (filter === undefined) return NOTHING
  const words = toWordSearch(query)
  if (newerThan !== undefined) return await findNews(connection, { request, words, filter })
  if (words === undefined) return await listEntries(connection, { request, filter, place })
  return await findWords(connection, { request, words, filter }, place)
}

/** Tier by tier: words of people and agents come before thinking, and that before tools. */
async function findWords(connection: Connection, asked: Asked, place: Place): Promise<Found> {
  const { query, limit } = asked.request
  const found: { id: number; tier: SearchTier }[] = []
  const notes: string[] = []
  let total = 0
  let next: Place | undefined
  for (const [index, tier] of TIERS.entries()) {
    if (!isAsked(query.facets, tier)) continue
    const wanted = index < place.tier ? 0 : limit - found.length
    if (wanted === 0 || next !== undefined) {
      const count = await countOf(connection, asked, index)
      total += count
      if (index >= place.tier && count > 0) next ??= { tier: index, skip: 0 }
      continue
    }
    const skip = index === place.tier ? place.skip : 0
    const { ids, count } = await rank(connection, asked, { tier: index, limit: wanted, skip })
    total += count
    for (const id of ids) found.push({ id, tier })
    if (skip + ids.length < Math.min(count, WEIGHED)) next = { tier: index, skip: skip + ids.length }
    if (count > WEIGHED) notes.push(toNote(count, tier))
  }
  return {
    hits: await toHits(connection, found),
    ...(next === undefined ? {} : { next: `${next.tier}.${next.skip}` }),
    total: { count: total, exact: true },
    notes,
  }
}

/** The best of a tier; the younger one first among equals. */
async function rank(
  connection: Connection,
  asked: Asked,
  page: { readonly tier: number; readonly limit: number; readonly skip: number },
): Promise<{ readonly ids: readonly number[]; readonly count: number }> {
  const weighing = await readIdfs(connection, asked.words, page.tier)
  const statement = createStatement()
  const { bind } = statement
  const from = fromTier(asked, page.tier, statement)
  const rows = await connection.query<{ entry: number; found: number }>(
    `WITH found AS MATERIALIZED (
       SELECT entry, ${weightOf(weighing, statement)} AS weight FROM (
         SELECT entry_text.entry, entry_text.count, ${timesOf(asked.words, statement)}
         ${from} ORDER BY entry_text.entry DESC LIMIT ${WEIGHED}
       ) AS newest
     )
     SELECT entry, (SELECT count(*) FROM found) AS found FROM found
     ORDER BY weight DESC, entry DESC LIMIT ${bind(page.limit)} OFFSET ${bind(page.skip)}`,
    statement.values,
  )
  const ids = rows.map(({ entry }) => entry)
  const found = rows[0]?.found
  // All of them were weighed, unless there are as many as are weighed at most.
  if (found !== undefined && found < WEIGHED) return { ids, count: found }
  return { ids, count: await countOf(connection, asked, page.tier) }
}

async function countOf(connection: Connection, asked: Asked, tier: number): Promise<number> {
  const statement = createStatement()
  const from = fromTier(asked, tier, statement)
  const [row] = await connection.query<{ count: number }>(
    `SELECT count(*) AS count ${from}`,
    statement.values,
  )
  return row?.count ?? 0
}

/** Whoever waits for news is told all of it, oldest first. */
async function findNews(
  connection: Connection,
  asked: Omit<Asked, 'words'> & { readonly words: WordSearch | undefined },
): Promise<Found> {
  const { request, words, filter } = asked
  const { query, limit } = request
  const where = new Map<number, SearchTier>()
  for (const [index, tier] of TIERS.entries()) {
    if (!isAsked(query.facets, tier)) continue
    const statement = createStatement()
    const from =
      words === undefined
        ? fromEntries(FLAGS[tier], filter, statement)
        : fromTier({ request, words, filter }, index, statement)
    const id = words === undefined ? 'entry.id' : 'entry_text.entry'
    const rows = await connection.query<{ id: number }>(
      `SELECT ${id} AS id ${from} ORDER BY ${id} LIMIT ${statement.bind(limit)}`,
      statement.values,
    )
    for (const { id: found } of rows) if (!where.has(found)) where.set(found, tier)
  }
  const first = [...where].toSorted(([a], [b]) => a - b).slice(0, limit)
  const hits = await toHits(
    connection,
    first.map(([id, tier]) => ({ id, tier })),
  )
  return { hits, total: { count: hits.length, exact: where.size <= limit }, notes: [] }
}

/** Nothing but facets: the newest entries first, each one once. */
async function listEntries(
  connection: Connection,
  asked: Pick<Asked, 'request' | 'filter'> & { readonly place: Place },
): Promise<Found> {
  const { request, filter, place } = asked
  const tiers = TIERS.filter((tier) => isAsked(request.query.facets, tier))
  const flags = tiers.reduce((bits, tier) => bits | FLAGS[tier], 0)
  const statement = createStatement()
  const { bind } = statement
  const rows = await connection.query<{ id: number; flags: number }>(
    `SELECT id, flags ${fromEntries(flags, filter, statement)}
     ORDER BY id DESC LIMIT ${bind(request.limit)} OFFSET ${bind(place.skip)}`,
    statement.values,
  )
  const counting = createStatement()
  const [counted] = await connection.query<{ count: number }>(
    `SELECT count(*) AS count ${fromEntries(flags, filter, counting)}`,
    counting.values,
  )
  const count = counted?.count ?? 0
  const found = rows.map((row) => ({
    id: row.id,
    tier: tiers.find((tier) => (row.flags & FLAGS[tier]) !== 0) ?? ('said' as const),
  }))
  const end = place.skip + found.length
  return {
    hits: await toHits(connection, found),
    ...(end < count ? { next: `0.${end}` } : {}),
    total: { count, exact: true },
    notes: [],
  }
}

interface EntryColumns {
  readonly id: number
  readonly path: string
  readonly agent: string
  readonly session: string
  readonly subagent: string | null
  readonly offset: number
  readonly length: number
  readonly at: number | null
  readonly kind: number
  readonly tool: string | null
  readonly flags: number
}

async function toHits(
  connection: Connection,
  found: readonly { readonly id: number; readonly tier: SearchTier }[],
): Promise<readonly FoundEntry[]> {
  if (found.length === 0) return []
  const rows = await connection.query<EntryColumns>(
    `SELECT entry.id, path, agent, session, subagent, entry."offset", length, at, entry.kind, word.text AS tool, flags
     FROM entry JOIN file ON file.id = entry.file LEFT JOIN word ON word.id = entry.tool
     WHERE entry.id = ANY($1::bigint[])`,
    [found.map(({ id }) => id)],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return found.flatMap(({ id, tier }) => {
    const row = byId.get(id)
    // Forgotten by somebody else since it was found.
    if (row === undefined) return []
    return {
      number: row.id,
      path: fromColumn(row.path),
      agent: fromColumn(row.agent),
      session: fromColumn(row.session),
      subagent: fromColumnOrNone(row.subagent),
      offset: row.offset,
      length: row.length,
      at: row.at ?? undefined,
      kind: KINDS[row.kind] ?? 'unknown',
      tool: fromColumnOrNone(row.tool),
      isError: (row.flags & FLAGS.error) !== 0,
      where: tier,
    }
  })
}

function isAsked({ tiers }: Facets, tier: SearchTier): boolean {
  return (tiers.any.length === 0 || tiers.any.includes(tier)) && !tiers.none.includes(tier)
}

/** `FROM` and `WHERE` of all entries that have something in one of the tiers. */
function fromEntries(flags: number, filter: Filter, statement: Statement): string {
  const condition = filter(statement)
  return `FROM entry WHERE flags & ${flags} <> 0${condition === '' ? '' : ` AND ${condition}`}`
}

/** `FROM` and `WHERE` of the entries of a tier that match. */
function fromTier({ words, filter }: Asked, tier: number, statement: Statement): string {
  const { bind } = statement
  const condition = filter(statement)
  const join = condition === '' ? '' : 'JOIN entry ON entry.id = entry_text.entry'
  const isThere = (piece: string): string => `position(${bind(piece)} in entry_text.words) > 0`
  const clauses = words.clauses.map(
    ({ pieces, not }) => `${not ? 'NOT ' : ''}(${pieces.map(isThere).join(' OR ')})`,
  )
  const compared = words.isExact ? `(NOT is_long OR (${clauses.join(' AND ')}))` : clauses.join(' AND ')
  return `FROM entry_text ${join}
    WHERE entry_text.tier = ${tier} AND entry_text.lexemes @@ ${bind(words.candidates)}::tsquery
      AND ${compared}${condition === '' ? '' : ` AND ${condition}`}`
}

function toNote(count: number, tier: SearchTier): string {
  const where = tier === 'tool' ? 'tools' : `what was ${tier}`
  return `${toShown(count)} entries match in ${where}; the newest ${toShown(WEIGHED)} were weighed.`
}

function toShown(count: number): string {
  return count.toLocaleString('en')
}

function readCursor(cursor: string | undefined): Place {
  if (cursor === undefined) return { tier: 0, skip: 0 }
  const match = /^([0-2])\.(\d{1,9})$/.exec(cursor)
  if (match === null) {
    throw new ThroughlineError('request-invalid', `${JSON.stringify(cursor.slice(0, 80))} is not a cursor`, {
      hint: 'Give the `next` of a page of hits as it is.',
    })
  }
  return { tier: Number(match[1]), skip: Number(match[2]) }
}
