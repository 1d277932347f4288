import { ThroughlineError } from '#base'
import { fromColumn, fromColumnOrNone } from './column-text.ts'
import type { Connection } from './connection.ts'
import type { Entered } from './members.ts'
import type {
  FilesRequest,
  LoggedLine,
  LogFile,
  LogNews,
  LogPage,
  PageRequest,
  StoredFile,
} from './team-log.ts'

/** How many lines a page has at most: so many as fit if they are short, for those that do not fit are read in vain. */
const MOST_LINES = 500
const SHORT_LINE = 512

/** Who asks. What he may see is for the database to say. */
type Viewer = Pick<Entered, 'team'>

interface LineColumns {
  readonly file: number
  readonly offset: number
  readonly length: number
  readonly bytes: Buffer | null
}

/**
 * What was written after a number. Batches are looked at whole and in their order, also those in which there is nothing
 * for this person: whoever reads on does not read them again.
 */
export async function readNews(connection: Connection, { team }: Viewer, after: number): Promise<LogNews> {
  const batches = await connection.query<{ id: number; first: number; last: number }>(
    'SELECT id, first, last FROM batches_after($1)',
    [after],
  )
  const next = batches.at(-1)?.last
  if (next === undefined) return { lines: [], next: after, more: false }
  const firsts = new Map(batches.map(({ id, first }) => [id, first]))
  // By the numbers of the batches, so that nothing else can be looked through, whatever the server knows of its tables.
  const rows = await connection.query<LineColumns & { batch: number; position: number }>(
    `SELECT batch, position, file, "offset", length, bytes FROM log_line
     WHERE team = $1 AND batch = ANY($2::bigint[])`,
    [team, [...firsts.keys()]],
  )
  const lines = rows
    .map((row) => ({ number: (firsts.get(row.batch) ?? 0) + row.position, ...toLine(row) }))
    .filter(({ number }) => number > after)
    .toSorted((one, other) => one.number - other.number)
  return { lines, next, more: true }
}

export async function readNewest(connection: Connection, { team }: Viewer): Promise<number> {
  const [row] = await connection.query<{ last: number }>('SELECT last FROM team_clock WHERE team = $1', [
    team,
  ])
  return row?.last ?? 0
}

/** A page of a file. Where a place was written twice, what came last is there. */
export async function readPage(
  connection: Connection,
  viewer: Viewer,
  { file, from, bytes }: PageRequest,
): Promise<LogPage> {
  const most = Math.min(MOST_LINES, Math.max(16, Math.ceil(bytes / SHORT_LINE)))
  // In the order of the key, all of it: so the server reads on from one place and stops, and never sorts a whole file.
  const rows = await connection.query<LineColumns & { batch: number; next: number | null }>(
    `SELECT file, "offset", length, batch, bytes, next FROM (
       SELECT file, "offset", length, batch, bytes, lead("offset") OVER (ORDER BY "offset", hash) AS next,
              sum(CASE WHEN bytes IS NULL THEN 0 ELSE length END)
                OVER (ORDER BY "offset" RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP) AS before
       FROM (SELECT file, "offset", length, batch, hash, bytes FROM log_line
             WHERE team = $1 AND file = $2 AND "offset" >= $3
             ORDER BY team, file, "offset", hash LIMIT $5) AS few
     ) AS counted WHERE before IS NULL OR before < $4 ORDER BY "offset", batch LIMIT $6`,
    [viewer.team, file, from, Math.max(1, bytes), most + 1, most],
  )
  // What may not be seen has no lines.
  if (rows.length === 0) await getFile(connection, viewer, file)
  const lines = new Map(rows.map((row) => [row.offset, toLine(row)]))
  if (rows.some((row) => row.next === null) || rows.length === 0) return { lines: [...lines.values()] }
  const next = Math.max(...rows.map((row) => row.next ?? 0))
  // A place that is there in more ways than fit this page comes with the next one.
  const isCut = lines.has(next)
  if (isCut && lines.size > 1) lines.delete(next)
  return { lines: [...lines.values()], next: isCut && lines.has(next) ? next + 1 : next }
}

/** The bytes of one line, however long. */
export async function* readWholeLine(
  connection: Connection,
  viewer: Viewer,
  { file, offset }: { readonly file: number; readonly offset: number },
): AsyncGenerator<Buffer> {
  const [line] = await connection.query<{ hash: Buffer; bytes: Buffer | null }>(
    `SELECT hash, bytes FROM log_line WHERE team = $1 AND file = $2 AND "offset" = $3 ORDER BY batch DESC LIMIT 1`,
    [viewer.team, file, offset],
  )
  if (line === undefined) {
    await getFile(connection, viewer, file)
    return
  }
  if (line.bytes !== null) {
    yield line.bytes
    return
  }
  for (let number = 0; ; number++) {
    const [piece] = await connection.query<{ bytes: Buffer }>(
      'SELECT bytes FROM blob_piece WHERE team = $1 AND hash = $2 AND number = $3',
      [viewer.team, line.hash, number],
    )
    if (piece === undefined) return
    yield piece.bytes
  }
}

interface FileColumns {
  readonly id: number
  readonly identity: string
  readonly kind: LogFile['kind']
  readonly path: string
  readonly agent: string | null
  readonly session: string | null
  readonly workdir: string | null
  readonly scope: LogFile['scope']
  readonly place: string | null
  readonly remote: string | null
  readonly size: number
  readonly origin: string
  readonly machine: string
  readonly owner: string
}

const FILE = `
  SELECT file.id, identity, kind, path, agent, session, workdir, place, remote, scope, size,
         origin.key AS origin, origin.machine, person.name AS owner
  FROM log_file AS file JOIN origin ON origin.team = file.team AND origin.id = file.origin
    JOIN person ON person.team = file.team AND person.id = file.owner`

export async function findFile(
  connection: Connection,
  { team }: Viewer,
  number: number,
): Promise<StoredFile | undefined> {
  const [row] = await connection.query<FileColumns>(`${FILE} WHERE file.team = $1 AND file.id = $2`, [
    team,
    number,
  ])
  return row === undefined ? undefined : toFile(row)
}

export async function readFiles(
  connection: Connection,
  { team }: Viewer,
  { kind, after = 0, limit }: FilesRequest,
): Promise<readonly StoredFile[]> {
  const rows = await connection.query<FileColumns>(
    `${FILE} WHERE file.team = $1 AND kind = $2 AND file.id > $3 ORDER BY file.id LIMIT $4`,
    [team, kind, after, limit],
  )
  return rows.map(toFile)
}

function toFile(row: FileColumns): StoredFile {
  return {
    number: row.id,
    identity: fromColumn(row.identity),
    kind: row.kind,
    path: fromColumn(row.path),
    agent: fromColumnOrNone(row.agent),
    session: fromColumnOrNone(row.session),
    workdir: fromColumnOrNone(row.workdir),
    place: fromColumnOrNone(row.place),
    remote: fromColumnOrNone(row.remote),
    scope: row.scope,
    size: row.size,
    origin: fromColumn(row.origin),
    machine: fromColumn(row.machine),
    owner: fromColumn(row.owner),
  }
}

/** Says the same of a file that is not there and of one that may not be seen. */
async function getFile(connection: Connection, { team }: Viewer, number: number): Promise<void> {
  const rows = await connection.query('SELECT 1 FROM log_file WHERE team = $1 AND id = $2', [team, number])
  if (rows.length > 0) return
  throw new ThroughlineError('session-not-found', `the log has no file ${number}`, {
    hint: 'It may not be shared with you. Ask its owner.',
  })
}

function toLine({ file, offset, length, bytes }: LineColumns): LoggedLine {
  return bytes === null ? { file, offset, length } : { file, offset, length, bytes }
}
