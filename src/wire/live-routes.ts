import type { Parameter, Route } from './route.ts'

export type LiveRouteName =
  | 'agents'
  | 'workdirs'
  | 'folder'
  | 'trust'
  | 'start'
  | 'resume'
  | 'fork'
  | 'renew'
  | 'end'
  | 'interrupt'
  | 'prompt'
  | 'mode'
  | 'model'
  | 'view'
  | 'board'
  | 'attentions'
  | 'resolve'
  | 'ask'
  | 'audit'
  | 'audits'

const WORKDIR: Parameter = { name: 'workdir', kind: 'text', required: true, meaning: 'The folder.' }
const RUN: readonly Parameter[] = [
  { name: 'model', kind: 'text', meaning: 'The model. Default: the one that the agent would take.' },
  {
    name: 'mode',
    kind: 'text',
    meaning: '`plan`, `default` or `accept-edits`. Default: as the session had it, else `default`.',
  },
  { name: 'prompt', kind: 'object', meaning: 'The first prompt: `{ id, blocks }`.' },
]
const WAKE_UP: Parameter = {
  name: 'wakeUp',
  kind: 'true or false',
  meaning: 'Whether it begins with what the last session in this folder knew.',
}
const VIEW = '`SessionView`'

/** Prompts carry pictures, and what is asked about may be a file. */
const PROMPT_BYTES = 32 * 1024 * 1024

/** The routes of sessions that are run now. */
export const LIVE_ROUTES: Readonly<Record<LiveRouteName, Route>> = {
  agents: {
    method: 'GET',
    path: '/api/agents',
    auth: 'device',
    summary: 'The agents that can be run here.',
    answer: '`{ agents: [AgentOffer] }`',
  },
  workdirs: {
    method: 'GET',
    path: '/api/workdirs',
    auth: 'device',
    summary: 'Folders that sessions worked in, latest first, and whether each can still be worked in.',
    answer: '`{ workdirs: [{ workdir, exists }] }`',
  },
  folder: {
    method: 'GET',
    path: '/api/folder',
    auth: 'device',
    summary: 'What an agent would load in a folder, and whether it is trusted.',
    query: [WORKDIR],
    answer: '`FolderReport`',
  },
  trust: {
    method: 'POST',
    path: '/api/folder',
    auth: 'device',
    summary: 'Trusts a folder as it was shown, or takes that back.',
    body: [
      WORKDIR,
      { name: 'hash', kind: 'text', required: true, meaning: 'Of what was shown.' },
      { name: 'trusted', kind: 'true or false', required: true, meaning: 'Whether it is trusted.' },
    ],
    answer: '`FolderReport`',
  },
  start: {
    method: 'POST',
    path: '/api/sessions',
    auth: 'device',
    bodyBytes: PROMPT_BYTES,
    summary: 'Begins a session. 201: it is there, and may still be pending.',
    body: [
      { name: 'agent', kind: 'text', meaning: 'Default: `claude`.' },
      WORKDIR,
      {
        name: 'sessionId',
        kind: 'text',
        meaning: 'A new UUID, so that asking again is the same start. Default: one is minted.',
      },
      ...RUN,
      WAKE_UP,
      {
        name: 'previousTranscript',
        kind: 'object',
        meaning:
          'In place of the one that would be found: `{ sessionId, ended, messages }`, or a list of the messages alone.',
      },
    ],
    answer: VIEW,
  },
  resume: {
    method: 'POST',
    path: '/api/sessions/:id/resume',
    auth: 'device',
    bodyBytes: PROMPT_BYTES,
    summary: 'Goes on with a session. 409 with who holds it, when it is alive elsewhere.',
    body: [
      ...RUN,
      { name: 'takeOver', kind: 'true or false', meaning: 'Ends whoever holds it first.' },
      { name: 'workdir', kind: 'text', meaning: 'Where it goes on, when its folder is gone.' },
    ],
    answer: VIEW,
  },
  fork: {
    method: 'POST',
    path: '/api/sessions/:id/fork',
    auth: 'device',
    bodyBytes: PROMPT_BYTES,
    summary: 'Begins a session with a copy of this one.',
    body: [
      ...RUN,
      { name: 'at', kind: 'text', meaning: 'The id of the last entry that is copied. Default: all.' },
      { name: 'workdir', kind: 'text', meaning: 'Where it goes on, when its folder is gone.' },
    ],
    answer: VIEW,
  },
  renew: {
    method: 'POST',
    path: '/api/sessions/:id/renew',
    auth: 'device',
    bodyBytes: PROMPT_BYTES,
    summary: 'Ends a live session and begins a fresh one after it, in the same folder.',
    body: [...RUN, WAKE_UP],
    answer: VIEW,
  },
  end: {
    method: 'POST',
    path: '/api/sessions/:id/end',
    auth: 'device',
    summary: 'Ends the agent and everything it started. The transcript stays.',
    answer: 'Nothing, once it is gone.',
  },
  interrupt: {
    method: 'POST',
    path: '/api/sessions/:id/interrupt',
    auth: 'device',
    summary: 'Stops the turn; the session goes on.',
    answer: 'Nothing.',
  },
  prompt: {
    method: 'POST',
    path: '/api/sessions/:id/prompts',
    auth: 'device',
    bodyBytes: PROMPT_BYTES,
    summary: 'Hands over a prompt. 202: it is on disk. 409 when the session has ended.',
    body: [
      {
        name: 'id',
        kind: 'text',
        required: true,
        meaning: 'Minted by the device: the same id twice is the same prompt.',
      },
      { name: 'blocks', kind: 'list', required: true, meaning: 'Text, images and documents.' },
    ],
    answer: '`{ id, state }`',
  },
  mode: {
    method: 'POST',
    path: '/api/sessions/:id/mode',
    auth: 'device',
    summary: 'Sets how much a person is asked. 403 when that would be less than the session may.',
    body: [{ name: 'mode', kind: 'text', required: true, meaning: '`plan`, `default` or `accept-edits`.' }],
    answer: 'Nothing.',
  },
  model: {
    method: 'POST',
    path: '/api/sessions/:id/model',
    auth: 'device',
    summary: 'Sets the model.',
    body: [{ name: 'model', kind: 'text', required: true, meaning: 'Its name.' }],
    answer: 'Nothing.',
  },
  view: {
    method: 'GET',
    path: '/api/sessions/:id/live',
    auth: 'device',
    summary: 'A live session as it is now: its state, what is open, the turn so far.',
    answer: VIEW,
  },
  board: {
    method: 'GET',
    path: '/api/board',
    auth: 'device',
    summary: 'Every live session, and every other one that waits for a person.',
    answer: '`{ cards: [BoardCard] }`',
  },
  attentions: {
    method: 'GET',
    path: '/api/attentions',
    auth: 'device',
    summary: 'Everything that waits for a person, oldest first.',
    answer: '`{ attentions: [Attention] }`',
  },
  resolve: {
    method: 'POST',
    path: '/api/attentions/:id/resolution',
    auth: 'device',
    bodyBytes: PROMPT_BYTES,
    summary: 'Answers an attention. 409 with what counts, when another answer was there first.',
    body: [
      { name: 'hash', kind: 'text', required: true, meaning: 'Of what was shown.' },
      { name: 'resolution', kind: 'object', required: true, meaning: 'The answer: `Resolution`.' },
    ],
    answer: '`AnswerOutcome`',
  },
  ask: {
    method: 'POST',
    path: '/api/asks',
    auth: 'device',
    bodyBytes: PROMPT_BYTES,
    summary: 'Asks a person on behalf of a session that runs elsewhere; answered when they have answered.',
    body: [
      { name: 'sessionId', kind: 'text', required: true, meaning: 'The session.' },
      { name: 'agent', kind: 'text', meaning: 'Whose session it is. Default: `claude`.' },
      { name: 'ask', kind: 'object', required: true, meaning: 'What is asked: `Ask`.' },
    ],
    answer: '`{ resolution }`, without one when there was no answer.',
  },
  audit: {
    method: 'GET',
    path: '/api/sessions/:id/audit',
    auth: 'device',
    summary: 'Everything that was called and decided in a session that was run here.',
    answer: '`AuditReport`',
  },
  audits: {
    method: 'GET',
    path: '/api/audits',
    auth: 'device',
    summary: 'The sessions that have such a record.',
    answer: '`{ audits: [{ sessionId, bytes, changedAt }] }`',
  },
}
