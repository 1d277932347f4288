import type { Database } from 'better-sqlite3'
import { ThroughlineError } from '#base'
import type { SearchTier } from '#wire'
import type { Facets } from '../query-facets.ts'
import { toMatch } from '../query-match.ts'
import type { Found, FoundEntry, StoreRequest } from '../store.ts'
import { toFilter, type Condition } from './filter.ts'
import { FLAGS, KINDS, TIERS } from '../entry-codes.ts'

/** Asks the index. */
export interface Search {
  find(request: StoreRequest): Found
}

/** More matches than this in one tier are not weighed against each other: the newest are, and a note says so. */
const WEIGHED = 15_000

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

interface Place {
  readonly tier: number
  readonly skip: number
}

interface Filtered extends Condition {
  readonly isFiltered: boolean
}

interface Ranked {
  readonly ids: readonly number[]
  readonly count: number
}

export function createSearch(db: Database): Search {
  const entryOf = db.prepare<[number], EntryColumns>(
    `SELECT entry.id, path, agent, session, subagent, entry."offset", length, at, kind, word.text AS tool, flags
     FROM entry JOIN file ON file.id = entry.file LEFT JOIN word ON word.id = entry.tool WHERE entry.id = ?`,
  )

  function find(request: StoreRequest): Found {
    const { query } = request
    const filter = toFilter(db, query.facets, request.newerThan)
    if (filter === undefined) return { hits: [], total: { count: 0, exact: true }, notes: [] }
    const match = toMatch(query)
    if (request.newerThan !== undefined) return findNews(request, match, filter)
    return match === undefined ? listEntries(request, filter) : findWords(request, match, filter)
  }

  /** Tier by tier: words of people and agents come before thinking, and that before tools. */
  function findWords({ query, limit, cursor }: StoreRequest, match: string, filter: Condition): Found {
    const place = readCursor(cursor)
    const hits: FoundEntry[] = []
    const notes: string[] = []
    let total = 0
    let next: Place | undefined
    for (const [index, tier] of TIERS.entries()) {
      if (!isAsked(query.facets, tier)) continue
      const wanted = index < place.tier ? 0 : limit - hits.length
      const from = fromTier(tier, match, filter)
      if (wanted === 0 || next !== undefined) {
        const count = countOf(from)
        total += count
        if (index >= place.tier && count > 0) next ??= { tier: index, skip: 0 }
        continue
      }
      const skip = index === place.tier ? place.skip : 0
      const { ids, count } = rank(tier, from, { limit: wanted, skip })
      total += count
      for (const id of ids) hits.push(toFound(id, tier))
      if (skip + ids.length < Math.min(count, WEIGHED)) next = { tier: index, skip: skip + ids.length }
      if (count > WEIGHED) notes.push(toNote(count, tier))
    }
    return {
      hits,
      ...(next === undefined ? {} : { next: `${next.tier}.${next.skip}` }),
      total: { count: total, exact: true },
      notes,
    }
  }

  /** Whoever waits for news is told all of it, oldest first. */
  function findNews({ query, limit }: StoreRequest, match: string | undefined, filter: Condition): Found {
    const where = new Map<number, SearchTier>()
    for (const tier of TIERS) {
      if (!isAsked(query.facets, tier)) continue
      const { sql, values } = match === undefined ? entriesOf(tier, filter) : fromTier(tier, match, filter)
      const id = match === undefined ? 'entry.id' : `in_${tier}.rowid`
      const ids = db.prepare<unknown[], number>(`SELECT ${id} ${sql} ORDER BY ${id} LIMIT ?`).pluck()
      for (const found of ids.all(...values, limit)) if (!where.has(found)) where.set(found, tier)
    }
    const first = [...where].toSorted(([a], [b]) => a - b).slice(0, limit)
    const hits = first.map(([id, tier]) => toFound(id, tier))
    return { hits, total: { count: hits.length, exact: where.size <= limit }, notes: [] }
  }

  /** The best of a tier; the younger one first among equals. */
  function rank(
    tier: SearchTier,
    from: Filtered,
    page: { readonly limit: number; readonly skip: number },
  ): Ranked {
    const table = `in_${tier}`
    if (!from.isFiltered) {
      // Without facets counting is cheap, and SQLite holds only the best of those it weighs.
      const count = countOf(from)
      const since = count > WEIGHED ? ` AND ${table}.rowid >= ${oldestWeighed(table, from)}` : ''
      const ids = db
        .prepare<unknown[], number>(
          `SELECT ${table}.rowid ${from.sql}${since} ORDER BY ${table}.rank, ${table}.rowid DESC LIMIT ? OFFSET ?`,
        )
        .pluck()
        .all(...from.values, page.limit, page.skip)
      return { ids, count }
    }
    // Every match is looked up for its facets: once is enough.
    const rows = db
      .prepare<unknown[], [number, number]>(
        `SELECT ${table}.rowid, ${table}.rank ${from.sql} ORDER BY ${table}.rowid DESC LIMIT ${WEIGHED + 1}`,
      )
      .raw()
      .all(...from.values)
    const count = rows.length > WEIGHED ? countOf(from) : rows.length
    const weighed = rows.length > WEIGHED ? rows.slice(0, WEIGHED) : rows
    // Rows are in the order of their age, and sorting keeps it where weights are the same.
    weighed.sort(([, a], [, b]) => a - b)
    return { ids: weighed.slice(page.skip, page.skip + page.limit).map(([id]) => id), count }
  }

  function oldestWeighed(table: string, from: Condition): number {
    const statement = db.prepare<unknown[], number>(
      `SELECT ${table}.rowid ${from.sql} ORDER BY ${table}.rowid DESC LIMIT 1 OFFSET ${WEIGHED - 1}`,
    )
    return statement.pluck().get(...from.values) ?? 0
  }

  function countOf({ sql, values }: Condition): number {
    return (
      db
        .prepare<unknown[], number>(`SELECT count(*) ${sql}`)
        .pluck()
        .get(...values) ?? 0
    )
  }

  /** Nothing but facets: the newest entries first, each one once. */
  function listEntries({ query, limit, cursor }: StoreRequest, filter: Condition): Found {
    const { skip } = readCursor(cursor)
    const asked = TIERS.filter((tier) => isAsked(query.facets, tier))
    const flags = asked.reduce((bits, tier) => bits | FLAGS[tier], 0)
    const from: Condition = {
      sql: `FROM entry WHERE flags & ${flags} <> 0${filter.sql === '' ? '' : ` AND ${filter.sql}`}`,
      values: filter.values,
    }
    const rows = db
      .prepare<unknown[], { id: number; flags: number }>(
        `SELECT id, flags ${from.sql} ORDER BY id DESC LIMIT ? OFFSET ?`,
      )
      .all(...from.values, limit, skip)
    const count = countOf(from)
    const hits = rows.map((row) =>
      toFound(row.id, asked.find((tier) => (row.flags & FLAGS[tier]) !== 0) ?? 'said'),
    )
    const end = skip + hits.length
    return { hits, ...(end < count ? { next: `0.${end}` } : {}), total: { count, exact: true }, notes: [] }
  }

  function toFound(id: number, where: SearchTier): FoundEntry {
    const row = entryOf.get(id)
    if (row === undefined)
      throw new ThroughlineError('index-unavailable', `the index has no entry ${id}`, DAMAGED)
    return {
      number: row.id,
      path: row.path,
      agent: row.agent,
      session: row.session,
      subagent: row.subagent ?? undefined,
      offset: row.offset,
      length: row.length,
      at: row.at ?? undefined,
      kind: KINDS[row.kind] ?? 'unknown',
      tool: row.tool ?? undefined,
      isError: (row.flags & FLAGS.error) !== 0,
      where,
    }
  }

  return { find }
}

const DAMAGED = { hint: 'It is being checked, and built again if it is damaged. Search again in a moment.' }

function isAsked({ tiers }: Facets, tier: SearchTier): boolean {
  return (tiers.any.length === 0 || tiers.any.includes(tier)) && !tiers.none.includes(tier)
}

/** `FROM` and `WHERE` of all entries that have something in a tier. */
function entriesOf(tier: SearchTier, filter: Condition): Condition {
  const sql = `FROM entry WHERE flags & ${FLAGS[tier]} <> 0${filter.sql === '' ? '' : ` AND ${filter.sql}`}`
  return { sql, values: filter.values }
}

/** `FROM` and `WHERE` of the entries of a tier that match. */
function fromTier(tier: SearchTier, match: string, filter: Condition): Filtered {
  if (filter.sql === '') {
    return { sql: `FROM in_${tier} WHERE in_${tier} MATCH ?`, values: [match], isFiltered: false }
  }
  return {
    sql: `FROM in_${tier} JOIN entry ON entry.id = in_${tier}.rowid WHERE in_${tier} MATCH ? AND ${filter.sql}`,
    values: [match, ...filter.values],
    isFiltered: true,
  }
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
