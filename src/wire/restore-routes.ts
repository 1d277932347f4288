import type { Route } from './route.ts'

export type RestoreRouteName =
  | 'restore'
  | 'preflight'
  | 'repair'
  | 'compactions'
  | 'compact'
  | 'undoCompaction'
  | 'convert'
  | 'copy'
  | 'lineage'

/** The routes of going on with a session. */
export const RESTORE_ROUTES: Readonly<Record<RestoreRouteName, Route>> = {
  restore: {
    method: 'GET',
    path: '/api/sessions/:id/restore',
    auth: 'device',
    summary: 'The conversation as an interface of a provider takes it, with what could not be carried.',
    query: [
      {
        name: 'to',
        kind: 'text',
        meaning:
          '`anthropic`, `openai-responses`, `openai-chat`, `gemini` or `ai-sdk`. Default: `anthropic`.',
      },
    ],
    answer: '`RestoredSession`',
  },
  preflight: {
    method: 'GET',
    path: '/api/sessions/:id/preflight',
    auth: 'device',
    summary: 'What would fail the next request, and how full the window is.',
    answer: '`Preflight`',
  },
  repair: {
    method: 'POST',
    path: '/api/sessions/:id/repair',
    auth: 'device',
    summary: 'Writes a mended copy as a new session. The old one stays as it is. 201 when one was written.',
    answer: '`RepairOutcome`',
  },
  compactions: {
    method: 'GET',
    path: '/api/sessions/:id/compactions',
    auth: 'device',
    summary: 'The compactions that were made here, and the one that holds.',
    answer: '`CompactionState`',
  },
  compact: {
    method: 'POST',
    path: '/api/sessions/:id/compact',
    auth: 'device',
    summary: 'Compacts the conversation in a journal of ours. The session itself stays as it is.',
    body: [
      { name: 'keepTurns', kind: 'number', meaning: 'Turns that stay word by word. Default: 10.' },
      {
        name: 'by',
        kind: 'text',
        meaning: 'Who writes the summary: `extract` or `agent`. Default: `extract`.',
      },
    ],
    answer: '`CompactionRecord`',
  },
  undoCompaction: {
    method: 'POST',
    path: '/api/sessions/:id/compact/undo',
    auth: 'device',
    summary: 'Takes the compaction back that holds.',
    answer: '`CompactionState`',
  },
  convert: {
    method: 'POST',
    path: '/api/sessions/:id/convert',
    auth: 'device',
    summary: 'Writes the session as a native one of an agent, or only says what that would lose.',
    body: [
      { name: 'to', kind: 'text', required: true, meaning: '`claude`, `codex`, `gemini` or `opencode`.' },
      { name: 'dryRun', kind: 'true or false', meaning: 'Writes nothing.' },
      { name: 'workdir', kind: 'text', meaning: "The folder to go on in. Default: the session's own." },
    ],
    answer: '`ConvertOutcome`',
  },
  copy: {
    method: 'POST',
    path: '/api/sessions/:id/copy',
    auth: 'device',
    summary: 'Writes a fork: a new session with everything up to an entry. No agent is started.',
    body: [
      { name: 'at', kind: 'text', meaning: 'The id of the last entry that is copied. Default: all.' },
      { name: 'workdir', kind: 'text', meaning: "The folder to continue in. Default: the session's own." },
    ],
    answer: '`ForkCopy`',
  },
  lineage: {
    method: 'GET',
    path: '/api/sessions/:id/lineage',
    auth: 'device',
    summary: 'What the session was made of, and what was made of it.',
    answer: '`Lineage`',
  },
}
