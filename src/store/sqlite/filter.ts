import type { Database } from 'better-sqlite3'
import { list, parseJson } from '#base'
import { asksForFiles, fileMatches, isTool } from '../facet-match.ts'
import type { Facets } from '../query-facets.ts'
import { FLAGS, KINDS, SPEAKERS } from '../entry-codes.ts'

/** A condition and what it binds. Empty: everything. */
export interface Condition {
  readonly sql: string
  readonly values: readonly (number | string)[]
}

/** The condition that facets make; `undefined` when no file can have what they ask for. */
export function toFilter(db: Database, facets: Facets, newerThan: number | undefined): Condition | undefined {
  const parts: string[] = []
  const values: (number | string)[] = []
  if (newerThan !== undefined) {
    parts.push('entry.id > ?')
    values.push(newerThan)
  }
  if (asksForFiles(facets)) {
    const files = matchingFiles(db, facets)
    if (files.length === 0) return undefined
    parts.push(`entry.file IN (${files.join(',')})`)
  }
  addChoice('kind', facets.kinds, (kind) => KINDS.indexOf(kind))
  addChoice('speaker', facets.speakers, (speaker) => SPEAKERS.indexOf(speaker))
  if (facets.tools.any.length > 0) parts.push(`entry.tool IN (${toolIds(db, facets.tools.any).join(',')})`)
  if (facets.tools.none.length > 0) {
    parts.push(`(entry.tool IS NULL OR entry.tool NOT IN (${toolIds(db, facets.tools.none).join(',')}))`)
  }
  if (facets.from !== undefined) {
    parts.push('entry.at >= ?')
    values.push(facets.from)
  }
  if (facets.to !== undefined) {
    parts.push('entry.at < ?')
    values.push(facets.to)
  }
  if (facets.isError !== undefined)
    parts.push(`entry.flags & ${FLAGS.error} ${facets.isError ? '<>' : '='} 0`)
  if (facets.hasDirective !== undefined)
    parts.push(`entry.flags & ${FLAGS.directive} ${facets.hasDirective ? '<>' : '='} 0`)
  return { sql: parts.join(' AND '), values }

  function addChoice<Value>(
    column: string,
    choice: { readonly any: readonly Value[]; readonly none: readonly Value[] },
    toNumber: (value: Value) => number,
  ): void {
    if (choice.any.length > 0) parts.push(`entry.${column} IN (${choice.any.map(toNumber).join(',')})`)
    if (choice.none.length > 0) parts.push(`entry.${column} NOT IN (${choice.none.map(toNumber).join(',')})`)
  }
}

function matchingFiles(db: Database, facets: Facets): readonly number[] {
  const rows = db
    .prepare<[], { id: number; agent: string; session: string; workdirs: string }>(
      'SELECT id, agent, session, workdirs FROM file',
    )
    .all()
  return rows
    .filter(({ agent, session, workdirs }) =>
      fileMatches(facets, { agent, session, workdirs: stringsIn(workdirs) }),
    )
    .map(({ id }) => id)
}

function toolIds(db: Database, wanted: readonly string[]): readonly number[] {
  const rows = db
    .prepare<[], { id: number; text: string }>(
      'SELECT id, text FROM word WHERE id IN (SELECT DISTINCT tool FROM entry)',
    )
    .all()
  const ids = rows.filter(({ text }) => wanted.some((name) => isTool(text, name))).map(({ id }) => id)
  return ids.length === 0 ? [-1] : ids
}

function stringsIn(json: string): readonly string[] {
  return list({ all: parseJson(json) }, 'all').filter((value) => typeof value === 'string')
}
