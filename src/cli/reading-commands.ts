import type { ArgSpec, CommandSpec, OptionSpec } from './command.ts'

/** The session a command is about. */
export const SESSION: ArgSpec = {
  name: 'session',
  summary: 'Its id, at least 4 characters of its beginning, or its whole name.',
  required: true,
}

/** Every command has it. */
export const JSON_OPTION: OptionSpec = { name: 'json', summary: 'Print JSON for programs.' }

/** The commands that read sessions. */
export const readingCommands: readonly CommandSpec[] = [
  {
    name: 'ls',
    summary: 'List sessions, most recently active first.',
    description:
      'Looks at both ends of every transcript, whatever its size. With --full every file is read whole, for counts, tokens and damage.',
    args: [
      {
        name: 'text',
        summary: 'Only sessions whose name, first prompt, workdir or id contains this.',
        required: false,
      },
    ],
    options: [
      { name: 'workdir', value: 'folder', summary: 'Only sessions that worked in this folder or below it.' },
      {
        name: 'agent',
        value: 'agent',
        summary: 'Only sessions of this agent: claude, codex, gemini, opencode…',
      },
      { name: 'text', value: 'text', summary: 'The same as the argument.' },
      {
        name: 'live',
        value: 'state',
        values: ['any', 'busy', 'waiting', 'idle'],
        bare: 'any',
        summary: 'Only sessions a process holds right now.',
      },
      { name: 'starred', summary: 'Only those with a star.' },
      { name: 'limit', value: 'n', summary: 'At most this many.' },
      { name: 'full', summary: 'Add prompts, turns, tokens and damage, and a line of totals.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline ls', says: 'every session' },
      { line: 'throughline ls checkout --workdir .', says: 'those about the checkout, in this folder' },
      { line: 'throughline ls --live waiting', says: 'those that wait for you' },
      { line: 'throughline ls --full --limit 20', says: 'the last twenty, with tokens' },
    ],
  },
  {
    name: 'show',
    summary: 'Read a session in the terminal.',
    description:
      'Words of people and agents, with one line for each tool call. Damaged bytes are shown where they are.',
    args: [SESSION],
    options: [
      {
        name: 'full',
        summary: 'Unfold tool calls, thinking, subagents and what surrounds the conversation.',
      },
      { name: 'last', value: 'n', summary: 'Only about this many messages from the end.' },
      {
        name: 'at',
        value: 'entry',
        summary: 'Only an entry, by its id or the beginning of it, and what stands around it.',
      },
      {
        name: 'view',
        value: 'view',
        values: ['file', 'model'],
        summary: 'file: everything, in file order (default). model: what the model sees now.',
      },
      { name: 'raw', summary: "The transcript's bytes, unchanged. For pipes and files." },
      { name: 'json', summary: 'Print one JSON object per line: every entry with its place, and damage.' },
    ],
    examples: [
      { line: 'throughline show 7d0c1f3e | less -R', says: 'read it page by page' },
      { line: 'throughline show "Fix the flaky test" --last 10', says: 'how it ended' },
      { line: 'throughline show 7d0c1f3e --at 0c1d2e3f', says: 'where a search hit stands' },
      { line: 'throughline show 7d0c --raw | jq .type', says: 'its lines, untouched' },
    ],
  },
  {
    name: 'check',
    summary: 'Say what is wrong with a session, or with all of them, and what to do.',
    description:
      'Reads transcripts whole and changes nothing. Only with --finish it writes: what recordings in a folder lack whose recorder was killed, derived from their lines. What is being recorded, and what others wrote, is left alone.',
    args: [
      {
        ...SESSION,
        summary:
          'Its id, the beginning of its id, or its name. All sessions when left out. With --finish: a folder, by default this one.',
        required: false,
      },
    ],
    options: [
      {
        name: 'finish',
        summary: 'Finish the recordings of a folder: set torn tails aside, write what is missing.',
      },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline check', says: 'everything' },
      {
        line: 'throughline check --finish .',
        says: 'finish what was being recorded here when something crashed',
      },
      { line: 'throughline check 7d0c1f3e', says: 'one session, notes included' },
    ],
    exits: [
      [0, 'nothing worse than warnings'],
      [1, 'something is damaged or wrong'],
    ],
  },
  {
    name: 'export',
    summary: 'Write a session as Markdown, as one HTML file, or as its own lines.',
    description:
      'HTML is a single file without scripts that fetches nothing. In md and html, what looks like a secret is masked; when it cannot be looked for, nothing is written. jsonl is the transcript, byte for byte, with a warning when it holds secrets. A file is written with mode 0600.',
    args: [SESSION],
    options: [
      {
        name: 'format',
        value: 'format',
        values: ['md', 'html', 'jsonl'],
        summary: 'Default: what the name of --out says, else md.',
      },
      { name: 'out', value: 'file', summary: 'Where to write. Default: standard output.' },
      {
        name: 'secrets',
        value: 'what',
        values: ['mask', 'keep'],
        summary: 'Of md and html: what is done with them. Default: mask.',
      },
      { name: 'force', summary: 'Replace the file if it is there.' },
      { name: 'json', summary: 'Print errors, and with --out what was written, as JSON.' },
    ],
    examples: [
      { line: 'throughline export 7d0c1f3e --out session.html', says: 'a page to keep or send' },
      { line: 'throughline export 7d0c1f3e --format md > notes.md', says: 'text for an editor' },
      { line: 'throughline export 7d0c1f3e --out copy.jsonl', says: 'an exact copy' },
    ],
  },
]
