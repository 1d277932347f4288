import type { CommandSpec } from './command.ts'
import { JSON_OPTION, SESSION } from './reading-commands.ts'

/** The commands about other machines and other people. */
export const teamCommands: readonly CommandSpec[] = [
  {
    name: 'team',
    summary: 'Share sessions with your other machines and with other people.',
    description:
      'A team is a PostgreSQL database. `team init <address>` begins one, with the address of the database’s owner, which is used once and not kept. `team invite` makes an address for one further machine, `team join <address>` uses it there. Everything stays on the machine that wrote it and is copied to the database with its secrets masked; nobody else sees any of it until it is shared: `team share <session>`, `team share --workdir <folder>`, `team share --everything`. With - for an address it is read from standard input, so that no list of processes shows it.',
    args: [
      {
        name: 'action',
        summary: 'What to do. Without it: status.',
        required: false,
        values: [
          'status',
          'init',
          'join',
          'leave',
          'update',
          'invite',
          'people',
          'machines',
          'revoke',
          'role',
          'remove',
          'share',
          'unshare',
          'shares',
        ],
      },
      {
        name: 'what',
        summary:
          'init, join, update: the address. invite, role, remove: the person. revoke: the machine. share, unshare: the session.',
        required: false,
      },
    ],
    options: [
      { name: 'team', value: 'name', summary: 'init: what the team is called. Default: team.' },
      { name: 'as', value: 'name', summary: 'init: your name in it. Default: that of your account.' },
      {
        name: 'machine',
        value: 'name',
        summary: "init, join: what this machine is called. Default: the host's name.",
      },
      {
        name: 'role',
        value: 'role',
        values: ['viewer', 'member', 'admin'],
        summary: 'invite, role: what the person may do. Default: member.',
      },
      {
        name: 'with',
        value: 'person',
        summary: 'share, unshare: with whom. Default: everybody in the team.',
      },
      { name: 'workdir', value: 'folder', summary: 'share, unshare: all that was and will be done in it.' },
      { name: 'everything', summary: 'share, unshare: everything of yours.' },
      { name: 'may-answer', summary: 'share: they may also answer what it asks, and talk to it.' },
      { name: 'yes', summary: 'leave, remove: without being asked again.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline team init - --as ada < owner.txt', says: 'begin a team' },
      { line: 'throughline team invite bob', says: 'an address for a colleague; it is good once' },
      { line: 'throughline team join -', says: 'on the new machine' },
      { line: 'throughline team share --workdir ~/src/shop', says: 'what is done there is for everybody' },
      { line: 'throughline team', says: 'how it stands' },
    ],
    exits: [[3, 'status: the database does not answer.']],
  },
  {
    name: 'continue',
    summary: 'Go on here with a session of another machine.',
    description:
      'Writes the session as one of its agent here, in the clone of the same repository, in the folder that `team.workdirs` in `config.json` names for the other one, or in --workdir. It is refused while the session is live over there, unless it is taken over.',
    args: [SESSION],
    options: [
      { name: 'workdir', value: 'folder', summary: 'The folder to go on in.' },
      {
        name: 'in',
        value: 'agent',
        values: ['claude', 'codex', 'gemini', 'opencode'],
        summary: 'The agent to go on in. Default: its own.',
      },
      { name: 'take-over', summary: 'End it over there first.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline continue 7d0c', says: 'where the same repository is' },
      { line: 'throughline continue 7d0c --workdir ~/src/app --in codex', says: 'there, in Codex' },
    ],
  },
]
