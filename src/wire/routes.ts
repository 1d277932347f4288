import { LIVE_ROUTES, type LiveRouteName } from './live-routes.ts'
import { MEMORY_ROUTES, type MemoryRouteName } from './memory-routes.ts'
import { RESTORE_ROUTES, type RestoreRouteName } from './restore-routes.ts'
import type { Parameter, Route } from './route.ts'
import { TEAM_ROUTES, type TeamRouteName } from './team-routes.ts'

export type RouteName =
  | 'login'
  | 'prove'
  | 'codes'
  | 'tickets'
  | 'logout'
  | 'devices'
  | 'revoke'
  | 'health'
  | 'stop'
  | 'sessions'
  | 'session'
  | 'change'
  | 'survey'
  | 'digest'
  | 'entries'
  | 'conversation'
  | 'check'
  | 'export'
  | 'bytes'
  | 'search'
  | 'usage'
  | 'showDemo'
  | 'removeDemo'
  | 'mcp'
  | LiveRouteName
  | MemoryRouteName
  | RestoreRouteName
  | TeamRouteName

const LIMIT: Parameter = { name: 'limit', kind: 'number', meaning: 'At most this many.' }
const CURSOR: Parameter = { name: 'cursor', kind: 'text', meaning: 'The `next` of another page.' }
const SESSION = 'The session, as in the list.'

/** Every route of the API. Flags are `1` and `0`; errors are `{ code, message, hint }`. */
export const ROUTES: Readonly<Record<RouteName, Route>> = {
  ...LIVE_ROUTES,
  ...MEMORY_ROUTES,
  ...RESTORE_ROUTES,
  ...TEAM_ROUTES,
  login: {
    method: 'POST',
    path: '/api/login',
    auth: 'none',
    summary: 'Turns a one-time code into a token for this device.',
    body: [
      {
        name: 'code',
        kind: 'text',
        required: true,
        meaning: 'A code of `POST /api/codes`, not older than 60 s.',
      },
      { name: 'label', kind: 'text', meaning: 'What the device is called in the list of devices.' },
    ],
    answer: '`{ token, device }`',
  },
  prove: {
    method: 'POST',
    path: '/api/prove',
    auth: 'none',
    summary: 'Shows that what answers holds the secret of this home.',
    body: [{ name: 'nonce', kind: 'text', required: true, meaning: '16 to 128 characters of base64url.' }],
    answer: '`{ proof }`: an HMAC over the nonce and the port.',
  },
  codes: {
    method: 'POST',
    path: '/api/codes',
    auth: 'device',
    summary: 'Makes a one-time code for another device. It is good for 60 s.',
    answer: '`{ code, expiresAt }`',
  },
  tickets: {
    method: 'POST',
    path: '/api/tickets',
    auth: 'device',
    summary:
      'Makes a ticket for one WebSocket. It is good for 30 s, as the subprotocol `throughline.<ticket>`.',
    answer: '`{ ticket }`',
  },
  logout: {
    method: 'POST',
    path: '/api/logout',
    auth: 'device',
    summary: 'Revokes the token that is used to ask.',
    answer: 'Nothing.',
  },
  devices: {
    method: 'GET',
    path: '/api/devices',
    auth: 'device',
    summary: 'The devices that may ask.',
    answer: '`{ devices: [{ id, label, addedAt, lastSeenAt, current }] }`',
  },
  revoke: {
    method: 'DELETE',
    path: '/api/devices/:id',
    auth: 'device',
    summary: 'Revokes a device: its token is void and its sockets are closed.',
    answer: 'Nothing.',
  },
  health: {
    method: 'GET',
    path: '/api/health',
    auth: 'device',
    summary: 'How the daemon is, and who is live.',
    answer: '`Health`',
  },
  stop: {
    method: 'POST',
    path: '/api/stop',
    auth: 'device',
    summary: 'Stops the daemon.',
    answer: 'Nothing; the daemon stops once it is sent.',
  },
  sessions: {
    method: 'GET',
    path: '/api/sessions',
    auth: 'device',
    summary: 'Every session, most recently active first.',
    query: [
      { name: 'agent', kind: 'text', meaning: 'Only sessions of this agent.' },
      { name: 'workdir', kind: 'text', meaning: 'Only sessions that worked in this folder or below it.' },
      {
        name: 'text',
        kind: 'text',
        meaning: 'Only sessions whose id, name, first prompt or workdir has this.',
      },
      { name: 'live', kind: 'text', meaning: 'Only live ones: `any`, `busy`, `waiting`, `idle` or `gone`.' },
      { name: 'starred', kind: 'flag', meaning: 'Only marked ones, or only unmarked ones.' },
      { name: 'full', kind: 'flag', meaning: 'With counts, tokens and damage.' },
      LIMIT,
      CURSOR,
    ],
    answer: '`SessionList`',
  },
  session: {
    method: 'GET',
    path: '/api/sessions/:query',
    auth: 'device',
    summary: 'The session with this id, unique id prefix of at least 4 characters, or whole name.',
    answer: SESSION,
  },
  change: {
    method: 'PATCH',
    path: '/api/sessions/:id',
    auth: 'device',
    summary: 'Names a session, takes its name back, or marks it.',
    body: [
      { name: 'name', kind: 'text or null', meaning: 'The new name; `null` takes it back.' },
      { name: 'starred', kind: 'true or false', meaning: 'Whether it is marked.' },
    ],
    answer: SESSION,
  },
  survey: {
    method: 'GET',
    path: '/api/sessions/:id/survey',
    auth: 'device',
    summary: 'The session with the facts that only a full read tells.',
    answer: SESSION,
  },
  digest: {
    method: 'GET',
    path: '/api/sessions/:id/digest',
    auth: 'device',
    summary: 'Where things are in a session: its outline, branches, files, commands and tools.',
    answer: '`Digest`',
  },
  entries: {
    method: 'GET',
    path: '/api/sessions/:id/entries',
    auth: 'device',
    summary: 'A page of a session, oldest entry first, found by seeking.',
    query: [
      { name: 'limit', kind: 'number', meaning: 'At most this many entries. Default 100, at most 5000.' },
      { name: 'before', kind: 'text', meaning: 'Entries that end before this cursor. Default: the end.' },
      { name: 'after', kind: 'text', meaning: 'Entries after this cursor. Wins over `before`.' },
      {
        name: 'entry',
        kind: 'text',
        meaning: 'Entries around the one with this id. Wins over `after` and `before`.',
      },
      { name: 'time', kind: 'text', meaning: 'Entries around the first one that is not older than this.' },
      { name: 'offset', kind: 'number', meaning: 'Entries around the one that stands at this byte.' },
      { name: 'subagent', kind: 'text', meaning: "A subagent's conversation instead of the session's own." },
      { name: 'raw', kind: 'flag', meaning: 'With `0`, without the raw lines: half the bytes.' },
    ],
    answer: '`{ readings, start, end, atStart, atEnd }`',
  },
  conversation: {
    method: 'GET',
    path: '/api/sessions/:id/conversation',
    auth: 'device',
    summary: 'What the model sees now: the active path after the last compaction.',
    query: [{ name: 'raw', kind: 'flag', meaning: 'With `0`, without the raw lines: half the bytes.' }],
    answer: '`{ readings }`: entries only',
  },
  check: {
    method: 'GET',
    path: '/api/sessions/:id/check',
    auth: 'device',
    summary: 'What is wrong with a session, and what to do about it.',
    answer: '`CheckReport`',
  },
  export: {
    method: 'GET',
    path: '/api/sessions/:id/export',
    auth: 'device',
    summary: 'The session as a file to keep.',
    query: [
      { name: 'format', kind: 'text', meaning: '`jsonl` (byte for byte, the default), `md` or `html`.' },
    ],
    answer:
      'The file, streamed. `throughline-secrets: masked` with `md` and `html`, in which what looks like a secret is masked; `kept` with `jsonl`.',
  },
  bytes: {
    method: 'GET',
    path: '/api/sessions/:id/bytes',
    auth: 'device',
    summary: 'The bytes of the transcript.',
    answer: 'The bytes, streamed.',
  },
  search: {
    method: 'GET',
    path: '/api/search',
    auth: 'device',
    summary: 'Full text with facets.',
    query: [
      {
        name: 'q',
        kind: 'text',
        required: true,
        meaning: 'Words, "phrases", prefix*, -without, OR, and facets.',
      },
      { name: 'limit', kind: 'number', meaning: 'Default 20, at most 200.' },
      CURSOR,
    ],
    answer: '`SearchPage`',
  },
  usage: {
    method: 'GET',
    path: '/api/usage',
    auth: 'device',
    summary: 'Tokens and what they cost.',
    query: [
      { name: 'by', kind: 'text', required: true, meaning: '`day`, `model`, `workdir` or `session`.' },
      { name: 'since', kind: 'text', meaning: 'First day, `yyyy-mm-dd`.' },
      { name: 'until', kind: 'text', meaning: 'Last day, `yyyy-mm-dd`.' },
      { name: 'workdir', kind: 'text', meaning: 'Only what was spent in this folder or below it.' },
      { name: 'timeZone', kind: 'text', meaning: 'Where days begin and end. Default: UTC.' },
      {
        name: 'machines',
        kind: 'text',
        meaning: '`mine`: on all of the person’s machines, where there is a team. Default: `this`.',
      },
    ],
    answer: '`UsageReport`',
  },
  showDemo: {
    method: 'POST',
    path: '/api/demo',
    auth: 'device',
    summary: 'Puts sample sessions among the others.',
    answer: 'Nothing, once they are in the list.',
  },
  removeDemo: {
    method: 'DELETE',
    path: '/api/demo',
    auth: 'device',
    summary: 'Takes the sample sessions away again.',
    answer: 'Nothing, once they are gone from the list.',
  },
  mcp: {
    method: 'POST',
    path: '/mcp',
    auth: 'device',
    summary:
      'The Model Context Protocol, for agents: one message, answered on its own. There are no sessions.',
    body: [
      { name: 'jsonrpc', kind: 'text', required: true, meaning: '`2.0`' },
      {
        name: 'method',
        kind: 'text',
        required: true,
        meaning: '`tools/call` and the others of the protocol.',
      },
      { name: 'params', kind: 'object', meaning: 'What the method takes.' },
    ],
    answer: 'A message of the protocol.',
  },
}
