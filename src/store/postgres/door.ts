import type { PostgresAddress } from './address.ts'
import type { ConnectionOptions } from './connection.ts'
import type { DeskOptions } from './desk-open.ts'
import type { Desk } from './desk.ts'
import type { TeamInit } from './init-team.ts'
import type { PostgresOptions, PostgresStore } from './open.ts'
import type { TeamBook } from './team-book.ts'
import type { TeamLog } from './team-log.ts'

// Most machines are in no team: what only a database needs is loaded when one is named.

/** The index in PostgreSQL, as one machine of a team fills and reads it. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  return await (await import('./open.ts')).openPostgresStore(options)
}

/** The shared log, for one person on one machine: the one whose login the address has. */
export async function openTeamLog(options: ConnectionOptions): Promise<TeamLog> {
  return await (await import('./open-team-log.ts')).openTeamLog(options)
}

/** Who is in the team, and what is shared with whom, for one machine of it. */
export async function openTeamBook(options: ConnectionOptions): Promise<TeamBook> {
  return await (await import('./open-team-book.ts')).openTeamBook(options)
}

/** What is live on other machines, and calls to them. */
export async function openDesk(options: DeskOptions): Promise<Desk> {
  return await (await import('./desk-open.ts')).openDesk(options)
}

/** Begins a team, with the rights of the database's owner. Gives the address of its first machine. */
export async function initTeam(init: TeamInit): Promise<PostgresAddress> {
  return await (await import('./init-team.ts')).initTeam(init)
}

/** Brings the tables of a database to this version, with the rights of its owner. */
export async function updateTeamTables(options: ConnectionOptions): Promise<void> {
  await (await import('./init-team.ts')).updateTeamTables(options)
}
