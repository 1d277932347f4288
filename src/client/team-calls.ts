import { list } from '#base'
import type { PromptAuthor, TeamMachine, TeamPerson, TeamShare } from '#model'
import { toShareBody, type ContinueOutcome, type TeamCalls, type TeamStatus } from '#wire'
import { expectShape, type Rest } from './rest.ts'

/** The team, over REST. */
export function createRemoteTeam(rest: Rest): TeamCalls {
  return {
    status: async () => expectShape<TeamStatus>(await rest.get('/api/team'), 'state', 'outbox', 'mirror'),
    people: async () =>
      list(await rest.get('/api/team/people'), 'people').map((one) =>
        expectShape<TeamPerson>(one, 'name', 'role'),
      ),
    machines: async () =>
      list(await rest.get('/api/team/machines'), 'machines').map((one) =>
        expectShape<TeamMachine>(one, 'origin', 'machine', 'person', 'state'),
      ),
    async revoke(origin) {
      await rest.send('DELETE', `/api/team/machines/${encodeURIComponent(origin)}`)
    },
    shares: async () =>
      list(await rest.get('/api/team/shares'), 'shares').map((one) =>
        expectShape<TeamShare>(one, 'kind', 'with'),
      ),
    async share(share) {
      await rest.send('POST', '/api/team/shares', toShareBody(share))
    },
    async unshare(share) {
      await rest.send('POST', '/api/team/shares/end', toShareBody(share))
    },
    continueHere: async (id, request = {}) =>
      expectShape<ContinueOutcome>(
        await rest.send('POST', `/api/sessions/${encodeURIComponent(id)}/continue`, request),
        'sessionId',
        'command',
      ),
    authors: async (id) =>
      list(await rest.get(`/api/sessions/${encodeURIComponent(id)}/authors`), 'authors').map((one) =>
        expectShape<PromptAuthor>(one, 'entryId', 'person', 'machine'),
      ),
  }
}
