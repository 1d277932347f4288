import { createHash } from 'node:crypto'
import { ThroughlineError } from '#base'
import { EVERYBODY } from './access.ts'
import { toColumn, toColumnOrNull } from './column-text.ts'
import { openConnections, SCHEMA, type Connection, type ConnectionOptions } from './connection.ts'
import { appendLines, type Writer } from './log-append.ts'
import { listenToLog } from './log-listen.ts'
import { findFile, readNewest, readNews, readPage, readWholeLine } from './log-read.ts'
import { migrate } from './migrations.ts'
import type { LogFile, Share, TeamLog } from './team-log.ts'

export interface TeamLogOptions extends ConnectionOptions {
  readonly team: string
  /** Who writes and reads, by the name he has in the team. */
  readonly person: string
  /** The machine and user it is done on. One that belongs to somebody else is refused. */
  readonly origin: string
}

/** The shared log, for one person on one machine. Makes its tables, and makes the person known, where needed. */
export async function openTeamLog(options: TeamLogOptions): Promise<TeamLog> {
  const { schema = SCHEMA } = options
  const connections = await openConnections(options)
  try {
    await migrate(connections, schema)
    const writer = await enter(connections, options)
    const channel = `throughline_${schema}`
    return {
      putFile: (file) => putFile(connections, writer, file),
      append: (lines) => appendLines(connections, lines, { writer, channel }),
      readAfter: (number) => readNews(connections, writer, number),
      readPage: (request) => readPage(connections, writer, request),
      readLine: (file, offset) => readWholeLine(connections, writer, { file, offset }),
      findFile: (file) => findFile(connections, writer, file),
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

async function enter(connection: Connection, { team, person, origin }: TeamLogOptions): Promise<Writer> {
  const teamId = await idOf(connection, 'team', { columns: ['name'], values: [toColumn(team)] })
  await connection.run('INSERT INTO team_clock (team) VALUES ($1) ON CONFLICT DO NOTHING', [teamId])
  const personId = await idOf(connection, 'person', {
    columns: ['team', 'name'],
    values: [teamId, toColumn(person)],
  })
  await connection.run('INSERT INTO origin (team, key, owner) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    teamId,
    toColumn(origin),
    personId,
  ])
  const [found] = await connection.query<{ id: number; owner: number }>(
    'SELECT id, owner FROM origin WHERE team = $1 AND key = $2',
    [teamId, toColumn(origin)],
  )
  if (found?.owner === personId) return { team: teamId, person: personId, origin: found.id }
  throw new ThroughlineError('not-allowed', 'this machine belongs to somebody else in the team', {
    hint: 'Every person has an origin of his own: a machine that two share has two.',
  })
}

/** The number of a row, which is made where there is none. */
async function idOf(
  connection: Connection,
  table: 'team' | 'person',
  row: { readonly columns: readonly string[]; readonly values: readonly (string | number)[] },
): Promise<number> {
  const numbered = row.columns.map((_, n) => `$${n + 1}`).join(', ')
  const where = row.columns.map((column, n) => `${column} = $${n + 1}`).join(' AND ')
  await connection.run(
    `INSERT INTO ${table} (${row.columns.join(', ')}) VALUES (${numbered}) ON CONFLICT DO NOTHING`,
    row.values,
  )
  const [found] = await connection.query<{ id: number }>(`SELECT id FROM ${table} WHERE ${where}`, row.values)
  return found?.id ?? 0
}

async function putFile(connection: Connection, writer: Writer, file: LogFile): Promise<number> {
  const [row] = await connection.query<{ id: number }>(
    `INSERT INTO log_file (team, origin, owner, key, identity, kind, path, agent, session, workdir, scope)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     ON CONFLICT (team, origin, key) DO UPDATE SET
       path = excluded.path, agent = excluded.agent, session = excluded.session, workdir = excluded.workdir,
       scope = excluded.scope
     RETURNING id`,
    [
      writer.team,
      writer.origin,
      writer.person,
      createHash('sha256').update(`${file.kind} `).update(Buffer.from(file.identity, 'utf16le')).digest(),
      toColumn(file.identity),
      file.kind,
      toColumn(file.path),
      toColumnOrNull(file.agent),
      toColumnOrNull(file.session),
      toColumnOrNull(file.workdir),
      file.scope,
    ],
  )
  return row?.id ?? 0
}

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
