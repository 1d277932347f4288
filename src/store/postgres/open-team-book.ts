import { ThroughlineError } from '#base'
import type { TeamMachine, TeamPerson, TeamRole, TeamShare } from '#model'
import { EVERYBODY } from './access.ts'
import { fromColumn, toColumn } from './column-text.ts'
import { openConnections, SCHEMA, type Connection, type ConnectionOptions } from './connection.ts'
import { withLogin } from './init-team.ts'
import { enterTeam, type Entered } from './members.ts'
import { checkTables } from './migrations.ts'
import { createPassword, toScramVerifier } from './scram.ts'
import type { TeamBook } from './team-book.ts'

/**
 * The people of a team, as the login of an address may see and change them. An invitation opens it too, to join with;
 * nothing else is there for it. Who has joined opens it again with the address that he was given.
 */
export async function openTeamBook(options: ConnectionOptions): Promise<TeamBook> {
  const { address, schema = SCHEMA } = options
  const connections = await openConnections({ most: 2, ...options })
  const entered = (): Promise<Entered> => enterTeam(connections, schema)
  try {
    await checkTables(connections, schema)
  } catch (error) {
    await connections.close()
    throw error
  }
  return {
    me: async () => (await entered()).self,
    async people() {
      await entered()
      return await readPeople(connections)
    },
    async machines() {
      return await readMachines(connections, await entered())
    },
    async invite({ person, role }) {
      const password = createPassword()
      const [made] = await connections.query<{ login_name: string; expires_at: Date }>(
        'SELECT login_name, expires_at FROM invite_machine($1, $2, $3)',
        [toColumn(person), role ?? null, toScramVerifier(password)],
      )
      return {
        person,
        address: withLogin(address, made?.login_name ?? '', password),
        expiresAt: made?.expires_at.toISOString() ?? '',
      }
    },
    async join(machine) {
      const password = createPassword()
      const [who] = await connections.query<{ name: string }>('SELECT session_user::text AS name')
      await connections.run('SELECT join_team($1, $2)', [toColumn(machine), toScramVerifier(password)])
      return withLogin(address, who?.name ?? '', password)
    },
    async revoke(origin) {
      await connections.run('SELECT revoke_machine($1)', [toColumn(origin)])
    },
    async setRole(person, role) {
      await connections.run('SELECT set_role($1, $2)', [toColumn(person), role])
    },
    async remove(person) {
      await connections.run('SELECT remove_person($1)', [toColumn(person)])
    },
    async shares() {
      return await readShares(connections, await entered())
    },
    async share(share) {
      await addShare(connections, await entered(), share)
    },
    async unshare(share) {
      const { team, person } = await entered()
      await connections.run(
        'DELETE FROM share WHERE team = $1 AND owner = $2 AND kind = $3 AND name = $4 AND reader = $5',
        [team, person, share.kind, nameOf(share), await readerOf(connections, team, share)],
      )
    },
    close: () => connections.close(),
  }
}

async function readPeople(connection: Connection): Promise<readonly TeamPerson[]> {
  const rows = await connection.query<{ name: string; role: TeamRole; joined_at: Date; removed: boolean }>(
    'SELECT name, role, joined_at, removed_at IS NOT NULL AS removed FROM person ORDER BY id',
  )
  return rows.map(({ name, role, joined_at: joinedAt, removed }) => ({
    name: fromColumn(name),
    role,
    joinedAt: joinedAt.toISOString(),
    removed,
  }))
}

interface MachineColumns {
  readonly key: string
  readonly machine: string
  readonly name: string
  readonly joined_at: Date | null
  readonly seen_at: Date | null
  readonly revoked: boolean
}

async function readMachines(
  connection: Connection,
  { person, self }: Entered,
): Promise<readonly TeamMachine[]> {
  const rows = await connection.query<MachineColumns>(
    `SELECT key, machine, person.name, origin.joined_at, seen_at,
            revoked_at IS NOT NULL OR removed_at IS NOT NULL AS revoked
     FROM origin JOIN person ON person.team = origin.team AND person.id = origin.owner
     WHERE $2 OR origin.owner = $1 ORDER BY origin.id`,
    [person, self.role === 'admin'],
  )
  return rows.map((row) => ({
    origin: row.key,
    machine: fromColumn(row.machine),
    person: fromColumn(row.name),
    joinedAt: row.joined_at?.toISOString(),
    seenAt: row.seen_at?.toISOString(),
    state: row.revoked ? 'revoked' : row.joined_at === null ? 'invited' : 'joined',
  }))
}

interface ShareColumns {
  readonly kind: TeamShare['kind']
  readonly name: string
  readonly may: 'read' | 'answer'
  readonly reader: string | null
}

async function readShares(connection: Connection, { person }: Entered): Promise<readonly TeamShare[]> {
  const rows = await connection.query<ShareColumns>(
    `SELECT kind, share.name, may, person.name AS reader
     FROM share LEFT JOIN person ON person.team = share.team AND person.id = share.reader
     WHERE share.owner = $1 ORDER BY kind, share.name, reader`,
    [person],
  )
  return rows.map(({ kind, name, may, reader }): TeamShare => {
    const to = { with: reader === null ? 'everybody' : { person: fromColumn(reader) }, may } as const
    switch (kind) {
      case 'session':
        return { ...to, kind, session: fromColumn(name) }
      case 'workdir':
        return { ...to, kind, workdir: fromColumn(name) }
      case 'everything':
        return { ...to, kind }
    }
  })
}

async function addShare(
  connection: Connection,
  { team, person, self }: Entered,
  share: TeamShare,
): Promise<void> {
  if (self.role === 'viewer') {
    throw new ThroughlineError('not-allowed', 'who only looks shares nothing', {
      hint: 'Ask an admin of the team to make you a member.',
    })
  }
  await connection.run(
    `INSERT INTO share (team, owner, kind, name, reader, may) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (team, owner, kind, name, reader) DO UPDATE SET may = excluded.may
     WHERE share.may <> excluded.may`,
    [team, person, share.kind, nameOf(share), await readerOf(connection, team, share), share.may ?? 'read'],
  )
}

/** What a share is called: a folder without the slash at its end. */
function nameOf(share: TeamShare): string {
  switch (share.kind) {
    case 'session':
      return toColumn(share.session)
    case 'workdir': {
      const workdir = share.workdir.replace(/[/\\]+$/, '')
      if (workdir !== '') return toColumn(workdir)
      throw new ThroughlineError('request-invalid', 'a folder that has everything in it was to be shared', {
        hint: 'Share everything, or a folder below.',
      })
    }
    case 'everything':
      return ''
  }
}

async function readerOf(connection: Connection, team: number, share: TeamShare): Promise<number> {
  if (share.with === 'everybody') return EVERYBODY
  const [row] = await connection.query<{ id: number }>(
    'SELECT id FROM person WHERE team = $1 AND name = $2',
    [team, toColumn(share.with.person)],
  )
  if (row !== undefined) return row.id
  throw new ThroughlineError(
    'request-invalid',
    `nobody in the team is called ${JSON.stringify(share.with.person)}`,
    { hint: 'Names are as `throughline team status` has them.' },
  )
}
