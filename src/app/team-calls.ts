import { ThroughlineError } from '#base'
import type { PromptAuthor } from '#model'
import type { TeamBook } from '#store'
import type { ContinueOutcome, ContinueRequest, TeamCalls, TeamStatus } from '#wire'
import type { Config } from './throughline.ts'

/** What a machine that is in a team has for it. Nothing where there is no database, or nobody keeps it open. */
export interface TeamParts {
  status(): TeamStatus
  /** The book, opened with the first call. Rejects while the database is away. */
  book(): Promise<TeamBook>
  continueHere(sessionId: string, request: ContinueRequest): Promise<ContinueOutcome>
  authors(sessionId: string): Promise<readonly PromptAuthor[]>
}

export interface TeamCallsOptions {
  readonly config: Config
  readonly team?: TeamParts | undefined
}

/** The calls of the team, around what the daemon keeps open. */
export function createTeamCalls({ config, team }: TeamCallsOptions): TeamCalls {
  function parts(): TeamParts {
    if (team !== undefined) return team
    throw new ThroughlineError('not-in-team', 'this machine is in no team', {
      hint: 'Begin one with `throughline team init`, or join one with `throughline team join`.',
    })
  }
  const book = async (): Promise<TeamBook> => await parts().book()
  return {
    status: () => Promise.resolve(team === undefined ? toAlone(config) : team.status()),
    people: async () => await (await book()).people(),
    machines: async () => await (await book()).machines(),
    revoke: async (origin) => await (await book()).revoke(origin),
    shares: async () => await (await book()).shares(),
    share: async (share) => await (await book()).share(share),
    unshare: async (share) => await (await book()).unshare(share),
    continueHere: async (id, request = {}) => await parts().continueHere(id, request),
    // Without a team everything was said by whoever is here.
    authors: async (id) => (team === undefined ? [] : await team.authors(id)),
  }
}

function toAlone({ store }: Config): TeamStatus {
  return {
    state: 'none',
    ...(store === undefined ? {} : { store: store.shown }),
    outbox: { waiting: 0, bytes: 0, held: [] },
    mirror: { files: 0, bytes: 0 },
  }
}
