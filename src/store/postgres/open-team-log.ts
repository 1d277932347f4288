import { createHash } from 'node:crypto'
import { toPathKey } from './apply-voids.ts'
import { toColumn, toColumnOrNull } from './column-text.ts'
import { openConnections, SCHEMA, type ConnectionOptions, type Connections } from './connection.ts'
import { appendLines } from './log-append.ts'
import { listenToLog } from './log-listen.ts'
import { findFile, readFiles, readNewest, readNews, readPage, readWholeLine } from './log-read.ts'
import { enterTeam, type Entered } from './members.ts'
import type { LogFile, TeamLog } from './team-log.ts'

/** The shared log of a team, for the machine whose login the address has. */
export async function openTeamLog(options: ConnectionOptions): Promise<TeamLog> {
  const { schema = SCHEMA } = options
  const connections = await openConnections(options)
  try {
    const entered = await enterTeam(connections, schema)
    return {
      self: entered.self,
      putFile: (file) => putFile(connections, entered, file),
      append: (lines) => appendLines(connections, lines, entered),
      readAfter: (number) => readNews(connections, entered, number),
      readPage: (request) => readPage(connections, entered, request),
      readLine: (file, offset) => readWholeLine(connections, entered, { file, offset }),
      findFile: (file) => findFile(connections, entered, file),
      files: (request) => readFiles(connections, entered, request),
      newest: () => readNewest(connections, entered),
      listen: (request) =>
        listenToLog(connections, {
          ...request,
          channel: entered.channel,
          read: (after) => readNews(connections, entered, after),
        }),
      close: () => connections.close(),
    }
  } catch (error) {
    await connections.close()
    throw error
  }
}

/** Who may see a file is said once, and holds for its lines and for what is found of them. */
async function putFile(connections: Connections, writer: Entered, file: LogFile): Promise<number> {
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
      toColumnOrNull(file.place),
      toColumnOrNull(file.remote),
    ])
    await connection.run(
      `UPDATE file SET scope = $4, workdir = $5 WHERE team = $1 AND origin = $2 AND key = $3
         AND (scope <> $4 OR workdir IS DISTINCT FROM $5)`,
      [writer.team, writer.origin, pathKey, scope, workdir],
    )
    return row?.id ?? 0
  })
}

const PUT_FILE = `
  INSERT INTO log_file (team, origin, owner, key, identity, kind, path, agent, session, workdir, scope, path_key,
                        place, remote)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
  ON CONFLICT (team, origin, key) DO UPDATE SET
    path = excluded.path, agent = excluded.agent, session = excluded.session, workdir = excluded.workdir,
    scope = excluded.scope, path_key = excluded.path_key, place = excluded.place, remote = excluded.remote
  RETURNING id`
