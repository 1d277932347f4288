import { list, parseJson } from '#base'
import { FLAGS, KINDS, SPEAKERS } from '../entry-codes.ts'
import { asksForFiles, fileMatches, isTool } from '../facet-match.ts'
import type { Facets } from '../query-facets.ts'
import { mayRead, type Viewer } from './access.ts'
import { fromColumn, toColumn, toLikeLiteral } from './column-text.ts'
import type { Connection } from './connection.ts'
import { createStatement, type Statement } from './statement.ts'
import type { Words } from './words.ts'

/** A condition on `entry`; empty: everything. Written for each statement anew, for values are numbered in it. */
export type Filter = (statement: Statement) => string

/** What a search is about beside its facets. */
interface Asking {
  readonly newerThan?: number | undefined
  readonly words: Words
  /** Not given: whoever asks may see everything. */
  readonly viewer?: Viewer | undefined
}

/** The condition that facets make; `undefined` when no file can have what they ask for. */
export async function toFilter(
  connection: Connection,
  facets: Facets,
  { newerThan, words, viewer }: Asking,
): Promise<Filter | undefined> {
  const files = asksForFiles(facets) ? await matchingFiles(connection, facets, viewer) : undefined
  if (files?.length === 0) return undefined
  const { any, none } = facets.tools
  const tools = any.length + none.length === 0 ? [] : await words.all('tool')
  const idsOf = (wanted: readonly string[]): readonly number[] =>
    tools.filter(({ text }) => wanted.some((name) => isTool(text, name))).map(({ id }) => id)
  return (statement) => {
    const { bind } = statement
    const parts: string[] = []
    if (viewer !== undefined) {
      parts.push(
        `EXISTS (SELECT 1 FROM file WHERE file.id = entry.file AND ${mayRead('file', viewer, statement)})`,
      )
    }
    if (newerThan !== undefined) parts.push(`entry.id > ${bind(newerThan)}`)
    if (files !== undefined) parts.push(`entry.file = ANY(${bind(files)}::bigint[])`)
    addChoice('kind', facets.kinds, (kind) => KINDS.indexOf(kind))
    addChoice('speaker', facets.speakers, (speaker) => SPEAKERS.indexOf(speaker))
    if (any.length > 0) parts.push(`entry.tool = ANY(${bind(idsOf(any))}::integer[])`)
    if (none.length > 0) {
      parts.push(`(entry.tool IS NULL OR entry.tool <> ALL(${bind(idsOf(none))}::integer[]))`)
    }
    if (facets.from !== undefined) parts.push(`entry.at >= ${bind(facets.from)}`)
    if (facets.to !== undefined) parts.push(`entry.at < ${bind(facets.to)}`)
    addFlag(FLAGS.error, facets.isError)
    addFlag(FLAGS.directive, facets.hasDirective)
    return parts.join(' AND ')

    function addFlag(flag: number, isSet: boolean | undefined): void {
      if (isSet !== undefined) parts.push(`entry.flags & ${flag} ${isSet ? '<>' : '='} 0`)
    }

    function addChoice<T>(
      column: string,
      choice: { readonly any: readonly T[]; readonly none: readonly T[] },
      toNumber: (value: T) => number,
    ): void {
      if (choice.any.length > 0) parts.push(`entry.${column} IN (${choice.any.map(toNumber).join(',')})`)
      if (choice.none.length > 0)
        parts.push(`entry.${column} NOT IN (${choice.none.map(toNumber).join(',')})`)
    }
  }
}

/** Working directories as they are narrowed down: in small letters, with one kind of slash, one per line. */
export function toSmallWorkdirs(workdirs: readonly string[]): string {
  return workdirs.map((workdir) => `/${slashed(workdir)}/\n`).join('')
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/').toLowerCase()
}

/** The database narrows down by what can be looked up; what a facet means is said in one place for all stores. */
async function matchingFiles(
  connection: Connection,
  facets: Facets,
  viewer: Viewer | undefined,
): Promise<readonly number[]> {
  const statement = createStatement()
  const { bind } = statement
  const parts: string[] = []
  const { agents, sessions, workdirs } = facets
  if (viewer !== undefined) parts.push(mayRead('file', viewer, statement))
  if (agents.any.length > 0) parts.push(`small_agent = ANY(${bind(agents.any.map(toColumn))}::text[])`)
  addLike('small_session', sessions.any, (start) => `${toLikeLiteral(start.toLowerCase())}%`)
  addLike(
    'small_workdirs',
    workdirs.any,
    (wanted) => `%/${toLikeLiteral(slashed(wanted).replace(/^\//, ''))}%`,
  )
  const where = parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`
  const rows = await connection.query<{ id: number; agent: string; session: string; workdirs: string }>(
    `SELECT id, agent, session, workdirs FROM file ${where}`,
    statement.values,
  )
  return rows
    .filter((row) =>
      fileMatches(facets, {
        agent: fromColumn(row.agent),
        session: fromColumn(row.session),
        workdirs: stringsIn(row.workdirs),
      }),
    )
    .map(({ id }) => id)

  function addLike(column: string, any: readonly string[], toPattern: (wanted: string) => string): void {
    if (any.length === 0) return
    parts.push(`(${any.map((wanted) => `${column} LIKE ${bind(toPattern(wanted))}`).join(' OR ')})`)
  }
}

/** The strings of a list in JSON. */
export function stringsIn(json: string): readonly string[] {
  return list({ all: parseJson(json) }, 'all').filter((value) => typeof value === 'string')
}
