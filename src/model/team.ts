/** What somebody may do in a team. `viewer`: read what is shared. `member`: share too. `admin`: decide who is in it. */
export type TeamRole = 'viewer' | 'member' | 'admin'

/** Where a session is that is not on this machine. */
export interface SessionOrigin {
  /** Names the machine and its user within the team. */
  readonly origin: string
  /** What its owner calls the machine. */
  readonly machine: string
  /** Whose session it is, by the name that he has in the team. */
  readonly person: string
  /** It is one's own, on another machine. */
  readonly mine: boolean
}

/** Who asks, and on which machine. */
export interface TeamSelf {
  readonly team: string
  readonly person: string
  readonly role: TeamRole
  /** The machine: its name, and what names it for good. */
  readonly machine: string
  readonly origin: string
}

/** Somebody in the team. */
export interface TeamPerson {
  readonly name: string
  readonly role: TeamRole
  readonly joinedAt: string
  /** He has no way in any more. */
  readonly removed: boolean
}

/** A machine with a way into the database. */
export interface TeamMachine {
  /** Names it for good; what `revoke` takes. */
  readonly origin: string
  readonly machine: string
  readonly person: string
  readonly joinedAt?: string | undefined
  readonly seenAt?: string | undefined
  /** `invited`: nobody has joined with it yet. */
  readonly state: 'invited' | 'joined' | 'revoked'
}

/** Whom an invitation is for. */
export interface Invited {
  readonly person: string
  /** Of a person who is in the team already it stays as it is. Default: member. */
  readonly role?: TeamRole | undefined
}

/** What somebody lets others read: a session, everything that was done in a folder, or everything. */
export type TeamShare = {
  /** A person's name, or the whole team. */
  readonly with: { readonly person: string } | 'everybody'
  /** `answer`: may also say yes or no to what the session asks, and talk to it. Default: read. */
  readonly may?: 'read' | 'answer' | undefined
} & (
  | { readonly kind: 'session'; readonly session: string }
  | { readonly kind: 'workdir'; readonly workdir: string }
  | { readonly kind: 'everything' }
)

/** Who said a prompt of a session. */
export interface PromptAuthor {
  /** The prompt's entry. */
  readonly entryId: string
  readonly person: string
  readonly machine: string
}
