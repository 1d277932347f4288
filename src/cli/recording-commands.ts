import type { CommandSpec, OptionSpec } from './command.ts'

const UPSTREAMS: readonly OptionSpec[] = [
  {
    name: 'upstream-anthropic',
    value: 'url',
    summary: 'Where requests for Anthropic go on to. Default: ANTHROPIC_BASE_URL, else its own address.',
  },
  {
    name: 'upstream-openai',
    value: 'url',
    summary:
      'The same for OpenAI. Default: OPENAI_BASE_URL, else what Codex is set to, else its own address.',
  },
  {
    name: 'upstream-gemini',
    value: 'url',
    summary: 'The same for Gemini. Default: GOOGLE_GEMINI_BASE_URL, else its own address.',
  },
  {
    name: 'plain-upstream',
    summary: 'Allow plain http to other machines. Keys cross the network in the open.',
  },
  { name: 'ca', value: 'file', summary: 'Certificates of further authorities, as PEM.' },
]

/** The commands that record agents. */
export const recordingCommands: readonly CommandSpec[] = [
  {
    name: 'record',
    summary: 'Run an agent, and record what it and the model say to each other.',
    description:
      'For agents that leave no transcript. The command runs in this terminal as it would without it; its requests to Anthropic, OpenAI and Gemini go through a proxy on this machine, which passes everything on as it is and writes each turn once, into .entire/ of the current folder. Keys pass and are never written. If something cannot be recorded, the agent goes on and you are told. With --serve the proxy stays, for editors and services: it prints the addresses to give them.',
    args: [
      {
        name: 'command',
        summary: 'The program and its arguments, behind --.',
        required: false,
        many: true,
      },
    ],
    options: [
      { name: 'dir', value: 'folder', summary: 'Record there. Default: the current folder.' },
      { name: 'agent', value: 'name', summary: 'What the agent is called. Default: what it says itself.' },
      {
        name: 'large',
        value: 'where',
        values: ['lines', 'blobs'],
        summary: 'Where text over 10 KB stands: in its line, or in a file of its own. Default: lines.',
      },
      { name: 'serve', summary: 'Stay, until Ctrl+C or SIGTERM.' },
      { name: 'port', value: 'n', summary: 'With --serve. Default: 4777.' },
      ...UPSTREAMS,
      { name: 'quiet', summary: 'Say nothing at the end, unless something is missing.' },
      {
        name: 'json',
        summary: 'Say what was recorded as JSON: at the end on standard error; with --serve as it happens.',
      },
    ],
    examples: [
      { line: 'throughline record -- claude', says: 'a session, with its terminal' },
      { line: 'throughline record -- codex exec "fix the test"', says: 'one task' },
      { line: 'throughline record --serve --dir ~/work/site', says: 'for an editor' },
    ],
    exits: [
      [0, 'with --serve: it was stopped'],
      [126, 'the command cannot be run'],
      [127, 'there is no such command; any other code is the one of the command'],
    ],
  },
]
