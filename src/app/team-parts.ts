import type { Digest, SessionSummary } from '#model'
import type { TeamCalls } from '#wire'
import type { Handoffs } from './handoffs.ts'
import type { Live } from './open-live.ts'
import type { Team } from './open-team.ts'
import { createTeamCalls, type TeamParts } from './team-calls.ts'
import { createContinuing, type Continuing } from './team-continuing.ts'
import type { Config } from './throughline.ts'

export interface TeamPartsOptions {
  readonly config: Config
  readonly team?: Team | undefined
  readonly live: () => Promise<Live>
  readonly get: (query: string) => Promise<SessionSummary>
  /** Everything that is listed. */
  readonly look: () => Promise<{ readonly sessions: readonly SessionSummary[] }>
  readonly digest: (session: SessionSummary) => Promise<Digest>
  readonly restoring: () => Promise<{ readonly handoffs: Handoffs }>
  readonly now: () => number
}

/** The calls of the team that a machine is in, or of none. */
export function createTeamOf({ team, ...options }: TeamPartsOptions): TeamCalls {
  const { config } = options
  return createTeamCalls({ config, team: team && createTeamParts(team, options) })
}

function createTeamParts(team: Team, options: Omit<TeamPartsOptions, 'team'>): TeamParts {
  let continuing: Promise<Continuing> | undefined

  function opened(): Promise<Continuing> {
    continuing ??= (async () => {
      const { team: teamLive } = await options.live()
      if (teamLive === undefined) throw new Error('live sessions were opened without the team')
      const { desk, authors, remote } = teamLive
      return createContinuing({
        ...options,
        team,
        desk,
        authors,
        remote,
        tellAuthors: () => teamLive.tellAuthors(),
        sessions: async () => (await options.look()).sessions,
        handoffs: async () => (await options.restoring()).handoffs,
      })
    })()
    return continuing
  }

  return {
    status: () => team.status(),
    book: () => team.book(),
    continueHere: async (sessionId, request) => await (await opened()).continueHere(sessionId, request),
    authors: async (sessionId) => await (await opened()).authors(sessionId),
  }
}
