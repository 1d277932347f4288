import type { CommandSpec } from './command.ts'
import { JSON_OPTION, SESSION } from './reading-commands.ts'

/** The commands that change what Throughline itself keeps. */
export const keepingCommands: readonly CommandSpec[] = [
  {
    name: 'rename',
    summary: 'Give a session a name that stays.',
    description:
      "It wins over the agent's own names, and is kept in Throughline's folder. The transcript is not touched.",
    args: [SESSION, { name: 'name', summary: 'Its new name.', required: false, many: true }],
    options: [{ name: 'clear', summary: 'Take the name back.' }, JSON_OPTION],
    examples: [
      { line: 'throughline rename 7d0c1f3e Checkout, second try', says: 'call it that' },
      { line: 'throughline rename 7d0c1f3e --clear', says: 'what the agent calls it' },
    ],
  },
  {
    name: 'star',
    summary: 'Mark a session.',
    description: 'A star stays until it is taken back. `throughline ls --starred` lists them.',
    args: [SESSION],
    options: [{ name: 'clear', summary: 'Take the star back.' }, JSON_OPTION],
    examples: [
      { line: 'throughline star 7d0c1f3e', says: 'mark it' },
      { line: 'throughline star 7d0c1f3e --clear', says: 'no longer' },
    ],
  },
  {
    name: 'archive',
    summary: 'Show what the archive keeps, and make it smaller.',
    description:
      'Agents delete their transcripts after some weeks. The archive keeps them: as hard links, which cost nothing until the original is deleted, or as copies on another file system. `archive prune` deletes sessions of which the archive has the only copy, those that were active longest ago first: older than an age, or beyond a size. It lists them and asks before it deletes anything; without a terminal it needs `--yes`.',
    args: [
      {
        name: 'action',
        summary: 'prune: delete old ones. Without it: how much there is.',
        required: false,
        values: ['prune'],
      },
    ],
    options: [
      { name: 'older-than', value: 'age', summary: 'What was last active longer ago: 90d, 12w, 4mo, 1y.' },
      {
        name: 'larger-than',
        value: 'size',
        summary: 'The oldest, until no more than this is left, with its unit: 500MB, 5GB.',
      },
      { name: 'dry-run', summary: 'Only show what would be deleted.' },
      { name: 'yes', summary: 'Delete without asking.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline archive', says: 'how much it keeps' },
      { line: 'throughline archive prune --older-than 90d --dry-run', says: 'what would go' },
      { line: 'throughline archive prune --larger-than 5GB', says: 'at most so much' },
    ],
  },
]
