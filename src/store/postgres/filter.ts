import { list, parseJson } from '#base'
import { FLAGS, KINDS, SPEAKERS } from '../entry-codes.ts'
import { asksForFiles, fileMatches } from '../facet-match.ts'
import type { Choice, Facets } from '../query-facets.ts'
import { fromColumn, toColumn, toLikeLiteral } from './column-text.ts'
import type { Connection } from './connection.ts'
import { createStatement } from './statement.ts'

/** What a search asks of entries beside their words, as `own_search` in the database reads it. */
export interface AskedOfEntries {
  readonly choices: readonly {
    readonly column: 'kind' | 'speaker'
    readonly not: boolean
    readonly values: readonly number[]
  }[]
  readonly tools: readonly {
    readonly not: boolean
    readonly names: readonly string[]
    readonly starts: readonly string[]
  }[]
  readonly flags: readonly { readonly flag: number; readonly isSet: boolean }[]
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly newer?: number | undefined
  readonly files?: readonly number[] | undefined
}

/** What facets ask for; `undefined` when no file can have it. */
export async function toAsked(
  connection: Connection,
  facets: Facets,
  newer: number | undefined,
): Promise<AskedOfEntries | undefined> {
  const files = asksForFiles(facets) ? await matchingFiles(connection, facets) : undefined
  if (files?.length === 0) return undefined
  return {
    choices: [
      ...toChoices('kind', facets.kinds, (kind) => KINDS.indexOf(kind)),
      ...toChoices('speaker', facets.speakers, (speaker) => SPEAKERS.indexOf(speaker)),
    ],
    tools: toTools(facets.tools),
    flags: [...toFlags(FLAGS.error, facets.isError), ...toFlags(FLAGS.directive, facets.hasDirective)],
    from: facets.from,
    to: facets.to,
    newer,
    files,
  }
}

function toChoices<T>(
  column: 'kind' | 'speaker',
  { any, none }: Choice<T>,
  toNumber: (value: T) => number,
): AskedOfEntries['choices'] {
  return [
    { column, not: false, values: any.map(toNumber) },
    { column, not: true, values: none.map(toNumber) },
  ].filter(({ values }) => values.length > 0)
}

/** As `isTool` has it: with a `*` at its end it is the beginning of a name. */
function toTools({ any, none }: Choice<string>): AskedOfEntries['tools'] {
  return [
    { not: false, wanted: any },
    { not: true, wanted: none },
  ]
    .filter(({ wanted }) => wanted.length > 0)
    .map(({ not, wanted }) => ({
      not,
      names: wanted.filter((name) => !name.endsWith('*')).map(toColumn),
      starts: wanted
        .filter((name) => name.endsWith('*'))
        .map((name) => `${toLikeLiteral(name.slice(0, -1))}%`),
    }))
}

function toFlags(flag: number, isSet: boolean | undefined): AskedOfEntries['flags'] {
  return isSet === undefined ? [] : [{ flag, isSet }]
}

/** Working directories as they are narrowed down: in small letters, with one kind of slash, one per line. */
export function toSmallWorkdirs(workdirs: readonly string[]): string {
  return workdirs.map((workdir) => `/${slashed(workdir)}/\n`).join('')
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/').toLowerCase()
}

/** The database narrows down by what can be looked up; what a facet means is said in one place for all stores. */
async function matchingFiles(connection: Connection, facets: Facets): Promise<readonly number[]> {
  const statement = createStatement()
  const { bind } = statement
  const parts: string[] = []
  const { agents, sessions, workdirs } = facets
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
