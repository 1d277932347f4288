import { readContinueRequest, readShare, type TeamCalls, type TeamRouteName } from '#wire'
import type { Answer } from './answer.ts'
import type { Handler } from './handlers.ts'

const CREATED = 201

/** The handlers of the team. */
export function createTeamHandlers(team: TeamCalls): Readonly<Record<TeamRouteName, Handler>> {
  return {
    team: async () => json(await team.status()),
    teamPeople: async () => json({ people: await team.people() }),
    teamMachines: async () => json({ machines: await team.machines() }),
    async revokeMachine({ id }) {
      await team.revoke(id)
      return { kind: 'nothing' }
    },
    shares: async () => json({ shares: await team.shares() }),
    async share({ body }) {
      await team.share(readShare(body))
      return { kind: 'nothing' }
    },
    async unshare({ body }) {
      await team.unshare(readShare(body))
      return { kind: 'nothing' }
    },
    continueHere: async ({ id, body }) =>
      json(await team.continueHere(id, readContinueRequest(body)), CREATED),
    authors: async ({ id }) => json({ authors: await team.authors(id) }),
  }
}

function json(value: object, status?: number): Answer {
  const text = JSON.stringify(value)
  return status === undefined ? { kind: 'json', text } : { kind: 'json', text, status }
}
