import { ThroughlineError } from '#base'
import type { TeamRole, TeamSelf } from '#model'
import { fromColumn } from './column-text.ts'
import { quoted, SCHEMA, type Connections } from './connection.ts'
import { checkTables } from './migrations.ts'

/** Who a login is, by numbers and by names. */
export interface Entered {
  readonly team: number
  readonly person: number
  readonly origin: number
  readonly self: TeamSelf
  /** Where it is told that something happened in the team. */
  readonly channel: string
}

interface EnteredColumns {
  readonly state: 'joined' | 'invited' | 'revoked'
  readonly team: number
  readonly person: number
  readonly origin: number
  readonly team_name: string
  readonly person_name: string
  readonly role: TeamRole
  readonly machine: string
  readonly origin_key: string
  readonly channel: string
}

/**
 * Who the login of a connection is. Throws `not-in-team` where it belongs to no machine of a team, to one that was
 * revoked, or to an invitation with which nobody has joined yet.
 */
export async function enterTeam(connections: Connections, schema: string = SCHEMA): Promise<Entered> {
  await checkTables(connections, schema)
  const [row] = await connections.query<EnteredColumns>(`SELECT * FROM ${quoted(schema)}.enter_team()`)
  if (row?.state !== 'joined') throw toStranger(connections.address.shown, row?.state)
  return {
    team: row.team,
    person: row.person,
    origin: row.origin,
    self: {
      team: fromColumn(row.team_name),
      person: fromColumn(row.person_name),
      role: row.role,
      machine: fromColumn(row.machine),
      origin: row.origin_key,
    },
    channel: row.channel,
  }
}

function toStranger(shown: string, state: 'invited' | 'revoked' | undefined): ThroughlineError {
  if (state === 'invited') {
    return new ThroughlineError('not-in-team', `nobody has joined with the invitation ${shown} yet`, {
      hint: 'Join with it first: `throughline team join`.',
    })
  }
  if (state === 'revoked') {
    return new ThroughlineError('not-in-team', `the machine of ${shown} was revoked`, {
      hint: 'Ask an admin of the team for an invitation.',
    })
  }
  return new ThroughlineError('not-in-team', `the login of ${shown} belongs to no machine of a team`, {
    hint: 'Each machine has an address of its own: that which `throughline team init` or `team join` has written.',
  })
}
