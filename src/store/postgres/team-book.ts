import type { Invited, TeamMachine, TeamPerson, TeamRole, TeamSelf, TeamShare } from '#model'
import type { PostgresAddress } from './address.ts'

/**
 * Who is in a team, with which machines, and what is shared with whom. Every machine has a login of its own in the
 * database, which knows by it who asks: nobody can say that he is somebody else.
 */
export interface TeamBook {
  /** Whoever asks. Throws `not-in-team` where the login belongs to no machine of a team, or to one that was revoked. */
  me(): Promise<TeamSelf>
  people(): Promise<readonly TeamPerson[]>
  /** One's own machines; all of them, for an admin. */
  machines(): Promise<readonly TeamMachine[]>
  /**
   * A way in for one machine: for a new person (admins), or for a further machine of one's own. Good once, and for a
   * week.
   */
  invite(invited: Invited): Promise<Invitation>
  /** Makes the machine that an invitation was for known by its name, and gives it a password that nobody else has seen. */
  join(machine: string): Promise<PostgresAddress>
  /** Ends a machine's way in, at once. One's own, or anybody's for an admin. */
  revoke(origin: string): Promise<void>
  setRole(person: string, role: TeamRole): Promise<void>
  /** Ends all of a person's ways in. What he shared stays until an admin or he removes it. */
  remove(person: string): Promise<void>
  /** What one has shared. */
  shares(): Promise<readonly TeamShare[]>
  share(share: TeamShare): Promise<void>
  unshare(share: TeamShare): Promise<void>
  close(): Promise<void>
}

export interface Invitation {
  readonly person: string
  /** Holds a password: it is shown once. */
  readonly address: PostgresAddress
  readonly expiresAt: string
}
