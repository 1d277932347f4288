import type { Statement } from './statement.ts'

/** Who asks. */
export interface Viewer {
  readonly team: number
  readonly person: number
}

/** Who writes, and on which machine. */
export interface Writer extends Viewer {
  readonly origin: number
}

/** The reader of a share that is for the whole team. */
export const EVERYBODY = 0

/**
 * The one place that says what a person may see: the condition on a row of `log_file`, or of `file` in the index, which
 * says the same of itself. Everything else belongs to a file and is reached through it.
 */
export function mayRead(file: string, { team, person }: Viewer, { bind }: Statement): string {
  const [t, p] = [`${bind(team)}::integer`, `${bind(person)}::integer`]
  return `${file}.team = ${t} AND (
    ${file}.owner = ${p}
    OR ${file}.scope = 'team'
    OR EXISTS (
      SELECT 1 FROM share
      WHERE share.team = ${t} AND share.owner = ${file}.owner AND share.reader IN (${p}, ${EVERYBODY})
        AND ((share.kind = 'session' AND share.name = ${file}.session)
          OR (share.kind = 'workdir' AND ${file}.scope = 'workdir' AND share.name = ${file}.workdir))))`
}

/** What a person may write to: what is his, from the machine he writes on. */
export function mayWrite(file: string, { team, person, origin }: Writer, { bind }: Statement): string {
  return `${file}.team = ${bind(team)}::integer AND ${file}.owner = ${bind(person)}::integer
    AND ${file}.origin = ${bind(origin)}::integer`
}
