import { ThroughlineError } from '#base'
import type { SearchTier } from '#wire'
import { FLAGS, KINDS, TIERS } from '../entry-codes.ts'
import type { Facets } from '../query-facets.ts'
import type { Found, FoundEntry, StoreRequest } from '../store.ts'
import { fromColumn, fromColumnOrNone } from './column-text.ts'
import type { Connection } from './connection.ts'
import { toAsked } from './filter.ts'
import { toWordSearch, type WordSearch } from './index-words.ts'
import { readIdfs, WEIGHED, type Sizes } from './weight.ts'

interface Place {
  readonly tier: number
  readonly skip: number
}

/** Everything that one search is about. */
interface Asked {
  readonly request: StoreRequest
  readonly words: WordSearch
  /** As the functions in the database read it. */
  readonly asked: string
  readonly sizes: Sizes
}

const NOTHING: Found = { hits: [], total: { count: 0, exact: true }, notes: [] }

/** Asks the index. The order, the pages and the notes are those of the index on disk. */
export async function findEntries(
  connection: Connection,
  request: StoreRequest,
  known: { readonly sizes: Sizes; readonly others: boolean },
): Promise<Found> {
  const { query, newerThan, cursor } = request
  const place = readCursor(cursor)
  const ofEntries = await toAsked(connection, query.facets, newerThan)
  if (ofEntries === undefined) return NOTHING
  const words = toWordSearch(query)
  const asked = JSON.stringify({
    ...ofEntries,
    others: known.others,
    ...(words === undefined ? {} : { ...words, forms: words.forms.map(({ piece }) => piece) }),
  })
  if (newerThan !== undefined) return await findNews(connection, request, asked)
  if (words === undefined) return await listEntries(connection, { request, asked, place })
  return await findWords(connection, { request, words, asked, sizes: known.sizes }, place)
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
      const count = await countOf(connection, asked.asked, index)
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
  const { average, idfs } = await readIdfs(connection, asked.words, { tier: page.tier, sizes: asked.sizes })
  const rows = await connection.query<{ entry: number; found: number }>(
    'SELECT entry, found FROM search_rank($1::jsonb, $2, $3::float8[], $4::float8, $5, $6)',
    [asked.asked, page.tier, idfs, average, page.limit, page.skip],
  )
  const ids = rows.map(({ entry }) => entry)
  const found = rows[0]?.found
  // All of them were weighed, unless there are as many as are weighed at most.
  if (found !== undefined && found < WEIGHED) return { ids, count: found }
  return { ids, count: await countOf(connection, asked.asked, page.tier) }
}

async function countOf(connection: Connection, asked: string, tier: number, flags = 0): Promise<number> {
  const [row] = await connection.query<{ count: number }>('SELECT search_count($1::jsonb, $2, $3) AS count', [
    asked,
    tier,
    flags,
  ])
  return row?.count ?? 0
}

/** Whoever waits for news is told all of it, oldest first. */
async function findNews(connection: Connection, request: StoreRequest, asked: string): Promise<Found> {
  const { query, limit } = request
  const where = new Map<number, SearchTier>()
  for (const [index, tier] of TIERS.entries()) {
    if (!isAsked(query.facets, tier)) continue
    const rows = await connection.query<{ id: number }>(
      'SELECT id FROM search_news($1::jsonb, $2, $3, $4, 0)',
      [asked, index, FLAGS[tier], limit],
    )
    for (const { id } of rows) if (!where.has(id)) where.set(id, tier)
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
  {
    request,
    asked,
    place,
  }: { readonly request: StoreRequest; readonly asked: string; readonly place: Place },
): Promise<Found> {
  const tiers = TIERS.filter((tier) => isAsked(request.query.facets, tier))
  const flags = tiers.reduce((bits, tier) => bits | FLAGS[tier], 0)
  const rows = await connection.query<{ id: number; flags: number }>(
    'SELECT id, has AS flags FROM search_newest($1::jsonb, 0, $2, $3, $4)',
    [asked, flags, request.limit, place.skip],
  )
  const count = await countOf(connection, asked, 0, flags)
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
  readonly origin: string | null
}

async function toHits(
  connection: Connection,
  found: readonly { readonly id: number; readonly tier: SearchTier }[],
): Promise<readonly FoundEntry[]> {
  if (found.length === 0) return []
  const rows = await connection.query<EntryColumns>(
    `SELECT entry.id, path, agent, session, subagent, entry."offset", length, at, entry.kind, tool, flags,
            origin.key AS origin
     FROM entry JOIN file ON file.team = entry.team AND file.id = entry.file
       LEFT JOIN origin ON origin.team = file.team AND origin.id = file.origin
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
      origin: fromColumnOrNone(row.origin),
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
