import { ThroughlineError } from '#base'
import type { Writer } from './access.ts'
import { toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'

/** A person of a team, on a machine. */
export interface Member {
  readonly team: string
  /** By the name he has in the team. */
  readonly person: string
  /** The machine and user it is done on. One that belongs to somebody else is refused. */
  readonly origin: string
}

/** Who a member is by numbers. Makes the team, the person and the machine known where they are not yet. */
export async function enterTeam(connection: Connection, member: Member): Promise<Writer> {
  const { team, person, origin } = member
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
