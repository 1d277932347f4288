import { createHash } from 'node:crypto'
import { ThroughlineError } from '#base'
import { EVERYBODY, type Writer } from './access.ts'
import { toPathKey } from './apply-voids.ts'
import { toColumn, toColumnOrNull } from './column-text.ts'
import {
  openConnections,
  SCHEMA,
  type Connection,
  type ConnectionOptions,
  type Connections,
} from './connection.ts'
import { appendLines } from './log-append.ts'
import { listenToLog } from './log-listen.ts'
import { findFile, readFiles, readNewest, readNews, readPage, readWholeLine } from './log-read.ts'
import { enterTeam, type Member } from './members.ts'
import { migrate } from './migrations.ts'
import type { LogFile, Share, TeamLog } from './team-log.ts'

export interface TeamLogOptions extends ConnectionOptions, Member {}

/** The shared log, for one person on one machine. Makes its tables, and makes the person known, where needed. */
export async function openTeamLog(options: TeamLogOptions): Promise<TeamLog> {
  const { schema = SCHEMA } = options
  const connections = await openConnections(options)
  try {
    await migrate(connections, schema)
    const writer = await enterTeam(connections, options)
    const channel = `throughline_${schema}`
    return {
      putFile: (file) => putFile(connections, writer, file),
      append: (lines) => appendLines(connections, lines, { writer, channel }),
      readAfter: (number) => readNews(connections, writer, number),
      readPage: (request) => readPage(connections, writer, request),
      readLine: (file, offset) => readWholeLine(connections, writer, { file, offset }),
      findFile: (file) => findFile(connections, writer, file),
      files: (request) => readFiles(connections, writer, request),
      newest: () => readNewest(connections, writer),
      listen: (request) =>
        listenToLog(connections, {
          ...request,
          channel,
          read: (after) => readNews(connections, writer, after),
        }),
      share: (share) => changeShare(connections, writer, { ...share, change: 'add' }),
      unshare: (share) => changeShare(connections, writer, { ...share, change: 'remove' }),
      close: () => connections.close(),
    }
  } catch (error) {
    await connections.close()
    throw error
  }
}

/** Who may see a file is said once, and holds for its lines and for what is found of them. */
async function putFile(connections: Connections, writer: Writer, file: LogFile): Promise<number> {
  const pathKey = toPathKey(file.path)
  const [scope, workdir] = [file.scope, toColumnOrNull(file.workdir)]
  return await connections.transact(async (connection) => {
    const [row] = await connection.query<{ id: number }>(PUT_FILE, [
      writer.team,
      writer.origin,
      writer.person,
      createHash('sha256').update(`${file.kind} `).update(Buffer.from(file.identity, 'utf16le')).digest(),
      toColumn(file.identity),
      file.kind,
      toColumn(file.path),
      toColumnOrNull(file.agent),
      toColumnOrNull(file.session),
      workdir,
      scope,
      pathKey,
    ])
    await connection.run(
      `UPDATE file SET scope = $4, workdir = $5 FROM origin
       WHERE origin.team = $1 AND origin.id = $2 AND file.team = $1 AND file.key = $3 AND file.origin = origin.key
         AND (file.scope <> $4 OR file.workdir IS DISTINCT FROM $5)`,
      [writer.team, writer.origin, pathKey, scope, workdir],
    )
    return row?.id ?? 0
  })
}

const PUT_FILE = `
  INSERT INTO log_file (team, origin, owner, key, identity, kind, path, agent, session, workdir, scope, path_key)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  ON CONFLICT (team, origin, key) DO UPDATE SET
    path = excluded.path, agent = excluded.agent, session = excluded.session, workdir = excluded.workdir,
    scope = excluded.scope, path_key = excluded.path_key
  RETURNING id`

async function changeShare(
  connection: Connection,
  { team, person }: Writer,
  { kind, name, reader, change }: Share & { readonly change: 'add' | 'remove' },
): Promise<void> {
  const readerId = reader === 'everybody' ? EVERYBODY : await getPerson(connection, team, reader.person)
  const sql =
    change === 'add'
      ? 'INSERT INTO share (team, owner, kind, name, reader) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING'
      : 'DELETE FROM share WHERE team = $1 AND owner = $2 AND kind = $3 AND name = $4 AND reader = $5'
  await connection.run(sql, [team, person, kind, toColumn(name), readerId])
}

async function getPerson(connection: Connection, team: number, name: string): Promise<number> {
  const [row] = await connection.query<{ id: number }>(
    'SELECT id FROM person WHERE team = $1 AND name = $2',
    [team, toColumn(name)],
  )
  if (row !== undefined) return row.id
  throw new ThroughlineError('request-invalid', `nobody in the team is called ${JSON.stringify(name)}`, {
    hint: 'Names are as `throughline team status` has them.',
  })
}
