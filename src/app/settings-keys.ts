/** What may stand at a key. A list of words is a choice. */
export type SettingKind =
  | 'text'
  | 'flag'
  | 'minutes'
  | 'tokens'
  | 'folder'
  | 'folders'
  | 'names'
  | 'texts'
  | readonly string[]

/** A key of `config.json`. `*` stands for any name. */
export interface Setting {
  readonly key: string
  readonly kind: SettingKind
  /** In words or as it would be written; nothing where there is none. */
  readonly fallback?: string
  readonly meaning: string
}

/** Every key of `config.json`: the reference, and what is checked. */
export const SETTINGS: readonly Setting[] = [
  {
    key: 'agents.*.executable',
    kind: 'text',
    fallback: 'the one that is found in PATH',
    meaning: 'The program of an agent, such as `claude` or `codex`.',
  },
  {
    key: 'agents.*.args',
    kind: 'texts',
    fallback: '[]',
    meaning: 'What that program is given when it is started.',
  },
  {
    key: 'agents.*.transcripts',
    kind: 'text',
    meaning: 'Where an agent without transcripts of its own keeps those that are written for it.',
  },
  {
    key: 'live.idleMinutes',
    kind: 'minutes',
    fallback: '15',
    meaning: 'A live session without a turn or an open attention ends after so long.',
  },
  {
    key: 'live.orphanMinutes',
    kind: 'minutes',
    fallback: '60',
    meaning: 'A live session ends after so long without a daemon.',
  },
  {
    key: 'live.attentionMinutes',
    kind: 'minutes',
    fallback: 'for ever',
    meaning: 'How long a permission or a question stays open.',
  },
  {
    key: 'live.widestMode',
    kind: ['plan', 'default', 'accept-edits', 'bypass'],
    fallback: 'the mode that a session began with',
    meaning: 'How far a device may widen the mode of a session.',
  },
  {
    key: 'names.agent',
    kind: 'text',
    meaning: 'What agents are called that have no name of their own.',
  },
  { key: 'names.agents.*', kind: 'text', meaning: 'What one agent is called.' },
  { key: 'names.human', kind: 'text', meaning: 'What you are called in wake-ups and in memory.' },
  {
    key: 'notifications.desktop',
    kind: 'flag',
    fallback: 'true',
    meaning: 'Whether the desktop is told what waits for you while no page is open.',
  },
  {
    key: 'recordedIn',
    kind: 'folders',
    fallback: '[]',
    meaning: 'Folders with recordings in them that are not found otherwise.',
  },
  {
    key: 'review',
    kind: ['off', 'agent'],
    fallback: 'off',
    meaning: 'With `agent`, nothing that an agent remembered counts before you have approved it.',
  },
  {
    key: 'store',
    kind: 'text',
    fallback: 'on this machine',
    meaning: 'The database of a team. `team init` and `team join` write it; it has a password in it.',
  },
  {
    key: 'team.calls',
    kind: ['shared', 'own', 'nobody'],
    fallback: 'shared',
    meaning: 'Whose answers and prompts are taken from other machines.',
  },
  {
    key: 'team.keepHere',
    kind: 'folders',
    fallback: '[]',
    meaning: 'Folders whose sessions stay on this machine, whatever is shared.',
  },
  {
    key: 'team.workdirs.*',
    kind: 'folder',
    meaning: 'The folder here that stands for a folder of another machine.',
  },
  {
    key: 'url',
    kind: 'text',
    fallback: 'this machine',
    meaning: 'The address that `throughline pair` gives to other devices.',
  },
  {
    key: 'wakeUp.budget.documents',
    kind: 'tokens',
    fallback: '2000',
    meaning: 'How much of a wake-up is for what is remembered.',
  },
  { key: 'wakeUp.budget.item', kind: 'tokens', fallback: '600', meaning: 'How long one item may be.' },
  { key: 'wakeUp.budget.team', kind: 'tokens', meaning: 'How much of it is for what the team shares.' },
  { key: 'wakeUp.budget.total', kind: 'tokens', fallback: '6400', meaning: 'How long a wake-up may be.' },
  {
    key: 'wakeUp.budget.transcript',
    kind: 'tokens',
    fallback: '4000',
    meaning: 'How much of it is for the session before.',
  },
  { key: 'wakeUp.closing', kind: 'text', meaning: 'The last words of a wake-up.' },
  {
    key: 'wakeUp.muted',
    kind: 'names',
    fallback: '[]',
    meaning: 'People of the team of whom nothing is told.',
  },
  {
    key: 'wakeUp.on',
    kind: 'flag',
    fallback: 'true',
    meaning: 'Whether new sessions get a wake-up without being asked.',
  },
  { key: 'wakeUp.opening', kind: 'text', meaning: 'The first words of a wake-up, in place of ours.' },
  {
    key: 'wakeUp.team',
    kind: 'flag',
    fallback: 'true',
    meaning: 'Whether what other people of the team share is told too.',
  },
  {
    key: 'wakeUp.trusted',
    kind: 'names',
    fallback: '[]',
    meaning: 'People of the team whose documents need no approval here.',
  },
]
