import type { CommandSpec } from './command.ts'
import { JSON_OPTION, SESSION } from './reading-commands.ts'

/** The commands that go on with a session. */
export const restoringCommands: readonly CommandSpec[] = [
  {
    name: 'restore',
    summary: 'Give the conversation as a provider takes it.',
    description:
      "The whole list of messages, ready for a request: calls and results in pairs and in order, what the provider signed exactly as it was. What cannot be carried is told on standard error, with where it stands and why. The session's own files are only read.",
    args: [SESSION],
    options: [
      {
        name: 'to',
        value: 'interface',
        values: ['anthropic', 'openai-responses', 'openai-chat', 'gemini', 'ai-sdk'],
        summary: 'Whose interface. Default: anthropic.',
      },
      { name: 'out', value: 'file', summary: 'Write the messages to a file.' },
      { name: 'force', summary: 'Replace the file if it is there.' },
      {
        name: 'json',
        summary: 'Print everything as JSON: messages, turns, tokens, model, folder, open calls, losses.',
      },
    ],
    examples: [
      { line: 'throughline restore 7d0c --out messages.json', says: 'for a program of yours' },
      {
        line: 'throughline restore 7d0c --to openai-responses --json | jq .losses',
        says: 'what would be lost',
      },
    ],
  },
  {
    name: 'repair',
    summary: 'Mend what keeps a session from going on, on a copy.',
    description:
      'Finds what a provider would refuse: calls without results, results without calls, thinking that was edited, empty texts, broken or too large pictures, half characters. Writes a new session with the smallest change for each; the old one stays as it is. With --dry-run it only says what it found.',
    args: [SESSION],
    options: [{ name: 'dry-run', summary: 'Write nothing.' }, JSON_OPTION],
    examples: [
      { line: 'throughline repair 7d0c --dry-run', says: 'what is wrong with it?' },
      { line: 'throughline repair 7d0c', says: 'a copy that works' },
    ],
    exits: [[1, 'Something is wrong that cannot be mended on a copy.']],
  },
  {
    name: 'handoff',
    summary: 'Hand a session to another machine, or take one in.',
    description:
      'Packs the transcript with its subagents, long outputs and blobs, and what was remembered in it, into one file. `handoff import <file>` checks it, keeps it as it was, and writes a session that can be gone on with here: in another folder with --workdir, in another agent with --in.',
    args: [
      { name: 'session', summary: 'The session to pack, or the word import.', required: true },
      { name: 'file', summary: 'After import: the file to take in.', required: false },
    ],
    options: [
      { name: 'out', value: 'file', summary: 'Where to write the bundle. Default: <id>.handoff.gz.' },
      { name: 'force', summary: 'Replace the file if it is there.' },
      { name: 'workdir', value: 'folder', summary: 'With import: the folder to go on in.' },
      {
        name: 'in',
        value: 'agent',
        values: ['claude', 'codex', 'gemini', 'opencode'],
        summary: 'With import: the agent to go on in. Default: its own.',
      },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline handoff 7d0c --out fix.handoff.gz', says: 'pack it' },
      { line: 'throughline handoff import fix.handoff.gz --workdir ~/src/app', says: 'go on with it there' },
    ],
  },
  {
    name: 'compact',
    summary: 'Shorten what a session takes of the window, and take it back.',
    description:
      "Long results, pictures and bodies that were written again are shortened first; when that is not enough, old turns go into a summary and the last ones stay word by word. It is written down in Throughline's own folder, never in the agent's file, and counts wherever the session goes on from here: `restore`, `resume --in`. --undo takes it back exactly.",
    args: [SESSION],
    options: [
      { name: 'keep', value: 'n', summary: 'Turns that stay word by word. Default: 10.' },
      {
        name: 'by',
        value: 'whom',
        values: ['extract', 'agent'],
        summary:
          'Who writes the summary: extract, from what was said (default), or agent, the one of the session.',
      },
      { name: 'undo', summary: 'Take the compaction back that holds.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline compact 7d0c', says: 'make room' },
      { line: 'throughline compact 7d0c --undo', says: 'as it was' },
    ],
  },
]
