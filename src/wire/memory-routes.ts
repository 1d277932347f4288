import type { Parameter, Route } from './route.ts'

export type MemoryRouteName =
  | 'documents'
  | 'queryDocuments'
  | 'remember'
  | 'putDocument'
  | 'importDocuments'
  | 'exportDocuments'
  | 'document'
  | 'editDocument'
  | 'documentVersions'
  | 'documentAction'
  | 'documentTrace'
  | 'review'
  | 'suggestTags'
  | 'wakeUp'
  | 'wakeUpAfter'
  | 'wakeUps'
  | 'wakeElsewhere'
  | 'recall'
  | 'artifact'

const LIMIT: Parameter = { name: 'limit', kind: 'number', meaning: 'The newest so many. Of messages: 500.' }
const VERSION: Parameter = {
  name: 'version',
  kind: 'number',
  meaning: 'The version that was shown. 409 when it is another one now.',
}
const WORKDIR: Parameter = { name: 'workdir', kind: 'text', required: true, meaning: 'The folder.' }
const AGENT: Parameter = { name: 'agent', kind: 'text', meaning: 'Default: `claude`.' }
const PROMPT: Parameter = {
  name: 'prompt',
  kind: 'text',
  meaning: 'What is going to be asked, if it is known.',
}
const FORMAT: Parameter = { name: 'format', kind: 'text', meaning: '`xml` or `md`. Default: `xml`.' }
const TEAM: Parameter = {
  name: 'team',
  kind: 'true or false',
  meaning: '`false`: without what other people share. Default: as `config.json` says.',
}
const DOCUMENT = '`MemoryDocument`'
const DOCUMENTS = '`{ documents: [MemoryDocument] }`'

const facet = (name: string, meaning: string): Parameter => ({ name, kind: 'text', meaning })
const FACETS: readonly Parameter[] = [
  facet('id', 'The id.'),
  facet('type', 'Any of message, artifact, learning, marker, teaching; several with commas.'),
  facet('category', 'Any of transcript, identity, knowledge, operational.'),
  facet('sessionId', 'The session it belongs to; `none`: it belongs to none. Also as `serverSessionId`.'),
  facet('role', '`user` or `assistant`.'),
  facet('speakerType', '`human` or `agent`.'),
  facet('speakerName', 'Who said it.'),
  facet('tags', 'Has all of these, with commas.'),
  facet('sourceSessionId', 'The session it was promoted in.'),
  facet('sourceMessageId', 'The entry it was promoted from.'),
  facet('promotedBy', 'Who promoted it.'),
  facet('workdir', 'The folder it was learned in.'),
  { name: 'pinned', kind: 'flag', meaning: 'Whether it is pinned.' },
  facet('scope', 'Any of private, workdir, team: who may read it.'),
  facet('agent', 'Leaves out teachings for other agents.'),
  facet('state', 'Any of active, quarantined, expired, superseded, retired. Default: active.'),
  facet('text', 'Every word of it begins a word of the content, the tags or the speaker.'),
]

/** Documents carry what somebody wrote; an import carries all of them. */
const DOCUMENT_BYTES = 8 * 1024 * 1024
const IMPORT_BYTES = 256 * 1024 * 1024

/** The routes of what is remembered. */
export const MEMORY_ROUTES: Readonly<Record<MemoryRouteName, Route>> = {
  documents: {
    method: 'GET',
    path: '/api/documents',
    auth: 'device',
    summary: 'Documents that fit every facet, oldest first.',
    query: [...FACETS, LIMIT],
    answer: DOCUMENTS,
  },
  queryDocuments: {
    method: 'POST',
    path: '/api/documents/query',
    auth: 'device',
    summary: 'The same, with the query as JSON: each facet may have a list, of which any value will do.',
    body: [{ name: 'query', kind: 'object', required: true, meaning: '`DocumentQuery`.' }, LIMIT],
    answer: DOCUMENTS,
  },
  remember: {
    method: 'POST',
    path: '/api/documents',
    auth: 'device',
    bodyBytes: DOCUMENT_BYTES,
    summary: 'Remembers something. What became of it is in `kind`; 201 when a document was written.',
    body: [
      { name: 'content', kind: 'text', required: true, meaning: 'What to remember.' },
      { name: 'type', kind: 'text', meaning: 'learning, marker, teaching or artifact. Default: learning.' },
      { name: 'category', kind: 'text', meaning: 'Default: knowledge.' },
      { name: 'tags', kind: 'list', meaning: 'Tags.' },
      { name: 'pinned', kind: 'true or false', meaning: 'Whether it enters every wake-up.' },
      { name: 'expiresAt', kind: 'text', meaning: 'When it stops to count.' },
      { name: 'audience', kind: 'object', meaning: 'Who a teaching is for: `{ agents, workdirs }`.' },
      {
        name: 'scope',
        kind: 'text',
        meaning: 'Who may read it: private, workdir or team. Default: private.',
      },
      { name: 'files', kind: 'list', meaning: 'Paths it was learned from.' },
      { name: 'workdir', kind: 'text', meaning: 'The folder it was learned in.' },
      {
        name: 'at',
        kind: 'object',
        meaning: 'Where it was picked: `{ sessionId, entryId, block, position }`.',
      },
      { name: 'supersedes', kind: 'text', meaning: 'The document it stands for from now on.' },
      { name: 'speaker', kind: 'text', meaning: '`human` or `agent`. Default: human.' },
      { name: 'agent', kind: 'text', meaning: 'Which agent says it, where one does.' },
      {
        name: 'near',
        kind: 'object',
        meaning: 'What to do about a document that is nearly the same: `{ choice, id }`.',
      },
      { name: 'keepSecret', kind: 'true or false', meaning: 'Keeps it although it looks like a secret.' },
    ],
    answer: '`RememberOutcome`',
  },
  putDocument: {
    method: 'POST',
    path: '/api/documents/put',
    auth: 'device',
    bodyBytes: DOCUMENT_BYTES,
    summary: 'Adds a document as it is, unless one of its id is there: that one comes back unchanged.',
    body: [
      {
        name: 'document',
        kind: 'object',
        required: true,
        meaning: 'Its fields; `type` and `content` at least.',
      },
    ],
    answer: DOCUMENT,
  },
  importDocuments: {
    method: 'POST',
    path: '/api/documents/import',
    auth: 'device',
    bodyBytes: IMPORT_BYTES,
    summary: 'Imports documents, held until a person approves them. The same again changes nothing.',
    body: [
      { name: 'format', kind: 'text', required: true, meaning: '`documents` or `fireproof`.' },
      { name: 'text', kind: 'text', required: true, meaning: 'What the export holds.' },
      { name: 'from', kind: 'text', meaning: 'Where it came from, shown beside each document.' },
      { name: 'accept', kind: 'flag', meaning: 'Approves them. Only for a file of your own.' },
    ],
    answer: '`ImportReport`',
  },
  exportDocuments: {
    method: 'GET',
    path: '/api/documents/export',
    auth: 'device',
    summary: 'Every document with every version.',
    answer: 'JSON lines',
  },
  document: {
    method: 'GET',
    path: '/api/documents/:query',
    auth: 'device',
    summary: 'One document.',
    answer: DOCUMENT,
  },
  editDocument: {
    method: 'PATCH',
    path: '/api/documents/:query',
    auth: 'device',
    bodyBytes: DOCUMENT_BYTES,
    summary: 'Changes fields of a document. The version before is kept.',
    body: [
      { name: 'patch', kind: 'object', required: true, meaning: 'The fields; `null` takes one away.' },
      VERSION,
    ],
    answer: DOCUMENT,
  },
  documentVersions: {
    method: 'GET',
    path: '/api/documents/:query/versions',
    auth: 'device',
    summary: 'Every version of a document, oldest first.',
    answer: '`{ versions: [DocumentVersion] }`',
  },
  documentAction: {
    method: 'POST',
    path: '/api/documents/:query/actions',
    auth: 'device',
    bodyBytes: DOCUMENT_BYTES,
    summary:
      'Retires, deletes, restores, supersedes, pins, unpins, expires, approves, reconciles, shares, decides or merges.',
    body: [
      { name: 'do', kind: 'text', required: true, meaning: 'Which of them.' },
      { name: 'from', kind: 'number', meaning: '`restore`: the version whose fields it has again.' },
      { name: 'newer', kind: 'text', meaning: '`supersede`: the document that stands for it.' },
      { name: 'at', kind: 'text', meaning: '`expire`: when. Without it, never.' },
      { name: 'with', kind: 'text', meaning: '`reconcile`: the other document.' },
      { name: 'scope', kind: 'text', meaning: '`share`: private, workdir or team.' },
      { name: 'key', kind: 'text', meaning: '`decide`: the version that is kept.' },
      { name: 'others', kind: 'list', meaning: '`merge`: the documents it stands for.' },
      { name: 'content', kind: 'text', meaning: '`merge`: what it says then.' },
      VERSION,
    ],
    answer: DOCUMENT,
  },
  documentTrace: {
    method: 'GET',
    path: '/api/documents/:query/trace',
    auth: 'device',
    summary: 'Which wake-ups carried a document, and how its files stand.',
    answer: '`DocumentTrace`',
  },
  review: {
    method: 'GET',
    path: '/api/review',
    auth: 'device',
    summary: 'What of the memory waits for a person.',
    answer: '`Review`',
  },
  suggestTags: {
    method: 'POST',
    path: '/api/tags',
    auth: 'device',
    bodyBytes: DOCUMENT_BYTES,
    summary: 'Tags that would suit a text.',
    body: [{ name: 'text', kind: 'text', required: true, meaning: 'The text.' }],
    answer: '`{ tags: [text] }`',
  },
  wakeUp: {
    method: 'GET',
    path: '/api/wake-up',
    auth: 'device',
    summary: 'The wake-up that a session begun now would get. Nothing is written.',
    query: [WORKDIR, AGENT, PROMPT, FORMAT, TEAM],
    answer: '`{ text, receipt }`',
  },
  wakeUpAfter: {
    method: 'POST',
    path: '/api/wake-up',
    auth: 'device',
    bodyBytes: DOCUMENT_BYTES,
    summary: 'The same, after a transcript that the client kept itself.',
    body: [
      WORKDIR,
      AGENT,
      PROMPT,
      FORMAT,
      TEAM,
      { name: 'previousTranscript', kind: 'object', meaning: '`{ sessionId, ended, messages }`.' },
    ],
    answer: '`{ text, receipt }`',
  },
  wakeUps: {
    method: 'GET',
    path: '/api/sessions/:id/wake-ups',
    auth: 'device',
    summary: 'The wake-ups that a session got, as they were sent, oldest first.',
    answer: '`{ wakeUps: [KeptWakeUp] }`',
  },
  wakeElsewhere: {
    method: 'POST',
    path: '/api/wake-ups',
    auth: 'device',
    summary: 'Composes a wake-up for a session in a terminal, and writes down that it got it.',
    body: [
      { name: 'sessionId', kind: 'text', required: true, meaning: 'The session.' },
      WORKDIR,
      { name: 'agent', kind: 'text', required: true, meaning: 'Its agent.' },
      { name: 'reason', kind: 'text', required: true, meaning: 'startup, resume, clear or compact.' },
      { name: 'characters', kind: 'number', meaning: 'How long the text may be.' },
    ],
    answer: '`{ text, receipt }`',
  },
  recall: {
    method: 'GET',
    path: '/api/recall',
    auth: 'device',
    summary: 'What was said or remembered that answers a question, best first.',
    query: [
      { name: 'q', kind: 'text', required: true, meaning: 'The question.' },
      { name: 'workdir', kind: 'text', meaning: 'Only of this folder and those inside it.' },
      { name: 'limit', kind: 'number', meaning: 'At most this many.' },
    ],
    answer: '`{ hits: [RecallHit] }`',
  },
  artifact: {
    method: 'GET',
    path: '/api/artifacts/:query',
    auth: 'device',
    summary: 'The bytes of an artifact.',
    query: [{ name: 'hash', kind: 'text', meaning: 'SHA-256 of a version. Default: the last one.' }],
    answer: '`{ path, hash, mediaType, bytes }`, the bytes in base64.',
  },
}
