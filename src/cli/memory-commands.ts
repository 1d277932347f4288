import type { CommandSpec, OptionSpec } from './command.ts'
import { JSON_OPTION } from './reading-commands.ts'

const CATEGORY: OptionSpec = {
  name: 'category',
  value: 'category',
  values: ['transcript', 'identity', 'knowledge', 'operational'],
  summary: 'What it is about.',
}
const TAG: OptionSpec = { name: 'tag', value: 'tag', summary: 'A tag. May be given more than once.' }

/** The commands about what is remembered. */
export const memoryCommands: readonly CommandSpec[] = [
  {
    name: 'remember',
    summary: 'Remember something for the sessions to come.',
    description:
      'It is kept as a learning of this folder, and sessions that begin here are told it. What is known already is confirmed. Of what is nearly the same, nothing is written until you say what is meant: --update or --keep-both. What looks like a secret is not kept unless you insist.',
    args: [
      { name: 'text', summary: 'What to remember. `-` reads it from a pipe.', required: true, many: true },
    ],
    options: [
      {
        name: 'type',
        value: 'type',
        values: ['learning', 'marker', 'teaching', 'artifact'],
        summary: 'What it is. Default: learning.',
      },
      { ...CATEGORY, summary: 'What it is about. Default: knowledge.' },
      TAG,
      { name: 'pin', summary: 'Put it into every wake-up.' },
      { name: 'expires', value: 'when', summary: 'Until then: 14d, 8w, 3mo, 1y, or 2026-12-31.' },
      {
        name: 'file',
        value: 'path',
        summary: 'A file it was learned from, or the artifact itself. May be given more than once.',
      },
      { name: 'workdir', value: 'folder', summary: 'The folder it holds in. Default: this one.' },
      { name: 'everywhere', summary: 'It holds in every folder.' },
      { name: 'agent', value: 'agent', summary: 'A teaching for this agent. May be given more than once.' },
      {
        name: 'share',
        value: 'whom',
        values: ['team', 'workdir'],
        summary: 'Let others of the team read it. Default: nobody.',
      },
      { name: 'update', summary: 'Change what is nearly the same; the version before is kept.' },
      { name: 'keep-both', summary: 'Keep it beside what is nearly the same.' },
      { name: 'keep-secret', summary: 'Keep it although it looks like a secret.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline remember The tests need Chromium --tag tests', says: 'a learning of this folder' },
      { line: 'throughline remember --expires 14d The staging server is down', says: 'for two weeks' },
      {
        line: 'throughline remember --type artifact --file report.html The report for March',
        says: 'keep the bytes of a file',
      },
    ],
    exits: [[1, 'Nothing was written: nearly the same is known, or it looks like a secret.']],
  },
  {
    name: 'documents',
    summary: 'List, show and change what is remembered.',
    description:
      'Every change keeps the version before; `delete` alone removes a document and its history for good. An id may be cut where it is still clear which one is meant. `export` writes every document with every version; `import --accept` restores it, and changes nothing the second time. Without `--accept`, imported documents are held until you approve them.',
    args: [
      {
        name: 'action',
        summary: 'What to do. Without it: list.',
        required: false,
        values: [
          'list',
          'show',
          'edit',
          'retire',
          'restore',
          'delete',
          'pin',
          'unpin',
          'approve',
          'share',
          'decide',
          'review',
          'export',
          'import',
        ],
      },
      { name: 'what', summary: 'The id; of `import`, the file.', required: false },
    ],
    options: [
      {
        name: 'type',
        value: 'type',
        values: ['message', 'artifact', 'learning', 'marker', 'teaching'],
        summary: 'list: only of this type. Default: all but messages and files that agents wrote.',
      },
      { ...CATEGORY, summary: 'list: only of this category. edit: its new one.' },
      { ...TAG, summary: 'list: has this tag. edit: its tags from now on. May be given more than once.' },
      { name: 'session', value: 'session', summary: 'list: of this session.' },
      { name: 'workdir', value: 'folder', summary: 'list: learned in this folder.' },
      {
        name: 'speaker',
        value: 'who',
        values: ['human', 'agent'],
        summary: 'list: said by a person or an agent.',
      },
      { name: 'text', value: 'words', summary: 'list: has these words.' },
      { name: 'pinned', summary: 'list: only pinned ones.' },
      {
        name: 'state',
        value: 'state',
        values: ['active', 'quarantined', 'expired', 'superseded', 'retired'],
        summary: 'list: in this state. Default: active.',
      },
      { name: 'limit', value: 'n', summary: 'list: the newest so many.' },
      {
        name: 'content',
        value: 'text',
        summary: 'edit: what it says from now on. `-` reads it from a pipe.',
      },
      { name: 'expires', value: 'when', summary: 'edit: until then; `never` takes that back.' },
      {
        name: 'with',
        value: 'whom',
        values: ['team', 'workdir', 'nobody'],
        summary:
          'share: with everybody in the team, with those who share its folder, or not any more. Default: team.',
      },
      { name: 'key', value: 'key', summary: 'decide: the version that is kept; `show` has its key.' },
      { name: 'from', value: 'version', summary: 'restore: with the fields of this version.' },
      { name: 'out', value: 'file', summary: 'export: where to write. Default: standard output.' },
      { name: 'force', summary: 'export: replace a file that is there.' },
      {
        name: 'accept',
        summary: 'import: approve everything in it as it stands. Only for a file of your own.',
      },
      { name: 'yes', summary: 'delete: without asking.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline documents', says: 'what is remembered' },
      { line: 'throughline documents --category identity --tag name', says: 'by facets' },
      { line: 'throughline documents show learning:7d0c1f3e', says: 'with its history' },
      {
        line: 'throughline documents edit learning:7d0c1f3e --content "The port is 4321."',
        says: 'change it',
      },
      { line: 'throughline documents export --out memory.jsonl', says: 'everything, without loss' },
    ],
  },
  {
    name: 'import',
    summary: 'Bring in what another program remembered.',
    description:
      'A Fireproof database lives in the browser, so it is exported there: `--exporter` writes a page that does it. Put the page where the old application was served from, open it there, and save what it gives. Ids, facets and unknown fields are kept; importing again changes nothing. Imported documents are held until you approve them, or are approved at once with `--accept`. Approved conversations become sessions of the folder: they are listed, searched and carried into the next session like any other.',
    args: [
      { name: 'format', summary: 'What it comes from.', required: true, values: ['fireproof'] },
      {
        name: 'file',
        summary: 'The export; `-` reads it from a pipe. With --exporter: the page to write.',
        required: false,
      },
    ],
    options: [
      { name: 'exporter', summary: 'Write the page that exports.' },
      { name: 'force', summary: 'Replace a file that is there.' },
      { name: 'accept', summary: 'Approve everything in it as it stands. Only for an export of your own.' },
      {
        name: 'workdir',
        value: 'folder',
        summary: 'The folder that its conversations belong to. Default: the current one.',
      },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline import fireproof --exporter', says: 'the page, as fireproof-export.html' },
      { line: 'throughline import fireproof documents.ndjson', says: 'what the page gave' },
      {
        line: 'throughline import fireproof documents.ndjson --accept --workdir ~/chat',
        says: 'your own export, as sessions of that folder',
      },
    ],
  },
]
