import type { NativeAgent, PromptAuthor, TeamMachine, TeamPerson, TeamSelf, TeamShare } from '#model'
import type { ConvertOutcome } from './restore-calls.ts'

/**
 * What makes this machine one of a team: who is in it, what is shared, how far everything is. Whatever has a password
 * in it, as an invitation has, is asked for at the machine itself and is not among these.
 */
export interface TeamCalls {
  /** How this machine stands in its team. Answers at once, also when the database does not. */
  status(): Promise<TeamStatus>
  people(): Promise<readonly TeamPerson[]>
  /** One's own machines; all of them, for an admin. */
  machines(): Promise<readonly TeamMachine[]>
  /** Ends a machine's way in, at once. */
  revoke(origin: string): Promise<void>
  /** What one has shared. */
  shares(): Promise<readonly TeamShare[]>
  share(share: TeamShare): Promise<void>
  unshare(share: TeamShare): Promise<void>
  /** Goes on here with a session of another machine, in a local folder. */
  continueHere(sessionId: string, request?: ContinueRequest): Promise<ContinueOutcome>
  /** Who said each prompt of a session, also of what was said before it went on here. */
  authors(sessionId: string): Promise<readonly PromptAuthor[]>
}

/** `none`: no database is named here. `away`: it does not answer, and everything of this machine works on. */
export interface TeamStatus {
  readonly state: 'none' | 'connecting' | 'connected' | 'away'
  /** The database, without its password. */
  readonly store?: string | undefined
  readonly self?: TeamSelf | undefined
  /** Since when it is so. */
  readonly since?: string | undefined
  /** Why it is away, and what to do. */
  readonly trouble?:
    | { readonly code: string; readonly message: string; readonly hint?: string | undefined }
    | undefined
  readonly outbox: OutboxReport
  /** What is here of other machines. */
  readonly mirror: { readonly files: number; readonly bytes: number }
}

/** What has left this machine, and what has not. */
export interface OutboxReport {
  /** Files that have something to ship. */
  readonly waiting: number
  /** How much of them. */
  readonly bytes: number
  /** Lines that stay on this machine, and why. */
  readonly held: readonly HeldLine[]
}

/** A line that did not leave this machine. */
export interface HeldLine {
  readonly path: string
  readonly offset: number
  readonly length: number
  /** `redaction-failed`, `too long`. */
  readonly reason: string
}

export interface ContinueRequest {
  /** The folder here. Default: the clone of the same repository, or as `team.workdirs` in `config.json` says. */
  readonly workdir?: string | undefined
  /** The agent to go on in. Default: its own. */
  readonly to?: NativeAgent | undefined
  /** Ends it over there first, when it is live. */
  readonly takeOver?: boolean | undefined
}

/** The session that goes on here. */
export interface ContinueOutcome extends ConvertOutcome {
  /** How the folder was found. */
  readonly workdirFrom: 'given' | 'map' | 'remote' | 'same'
}
