import type { Parameter, Route } from './route.ts'

export type TeamRouteName =
  | 'team'
  | 'teamPeople'
  | 'teamMachines'
  | 'revokeMachine'
  | 'shares'
  | 'share'
  | 'unshare'
  | 'continueHere'
  | 'authors'

const SHARE: readonly Parameter[] = [
  { name: 'kind', kind: 'text', required: true, meaning: '`session`, `workdir` or `everything`.' },
  { name: 'session', kind: 'text', meaning: 'The id of the session, for one.' },
  { name: 'workdir', kind: 'text', meaning: 'The folder, for everything that was done in it.' },
  { name: 'person', kind: 'text', meaning: 'Who may read it. Default: everybody in the team.' },
  { name: 'may', kind: 'text', meaning: '`read`, or `answer`: what it asks too. Default: `read`.' },
]

/** The routes of the team. */
export const TEAM_ROUTES: Readonly<Record<TeamRouteName, Route>> = {
  team: {
    method: 'GET',
    path: '/api/team',
    auth: 'device',
    summary: 'How this machine stands in its team: connected or not, what waits, what stays here.',
    answer: '`TeamStatus`',
  },
  teamPeople: {
    method: 'GET',
    path: '/api/team/people',
    auth: 'device',
    summary: 'Who is in the team.',
    answer: '`{ people }`',
  },
  teamMachines: {
    method: 'GET',
    path: '/api/team/machines',
    auth: 'device',
    summary: "The person's own machines; all of them, for an admin.",
    answer: '`{ machines }`',
  },
  revokeMachine: {
    method: 'DELETE',
    path: '/api/team/machines/:query',
    auth: 'device',
    summary: "Ends a machine's way into the database, at once.",
    answer: '204',
  },
  shares: {
    method: 'GET',
    path: '/api/team/shares',
    auth: 'device',
    summary: 'What the person has shared.',
    answer: '`{ shares }`',
  },
  share: {
    method: 'POST',
    path: '/api/team/shares',
    auth: 'device',
    summary: 'Lets others read a session, what was done in a folder, or everything.',
    body: SHARE,
    answer: '204',
  },
  unshare: {
    method: 'POST',
    path: '/api/team/shares/end',
    auth: 'device',
    summary: 'Takes it back: it is gone for them at once.',
    body: SHARE,
    answer: '204',
  },
  continueHere: {
    method: 'POST',
    path: '/api/sessions/:id/continue',
    auth: 'device',
    summary: 'Goes on here with a session of another machine, in a folder of this one.',
    body: [
      { name: 'workdir', kind: 'text', meaning: 'The folder. Default: the clone of the same repository.' },
      { name: 'to', kind: 'text', meaning: 'The agent. Default: its own.' },
      { name: 'takeOver', kind: 'true or false', meaning: 'Ends it over there first.' },
    ],
    answer: '`ContinueOutcome`',
  },
  authors: {
    method: 'GET',
    path: '/api/sessions/:id/authors',
    auth: 'device',
    summary: 'Who said each prompt of a session, also of what was said on other machines.',
    answer: '`{ authors }`',
  },
}
