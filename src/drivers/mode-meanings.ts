import type { PermissionMode } from '#model'

/** What each mode means with an agent, for a person: agents do not draw the line between asking and doing alike. */
export const MODE_MEANINGS: Readonly<Record<string, Readonly<Record<PermissionMode, string>>>> = {
  claude: {
    plan: 'Reads and plans. Changes nothing before the plan is approved.',
    default:
      'Asks before it changes files, fetches from the web, or runs a command that could change something. Commands that only read run without asking.',
    'accept-edits':
      'Changes files in the folder without asking. Asks before it runs commands or fetches from the web.',
    bypass: 'Runs everything without asking.',
  },
  codex: {
    plan: 'Plans. Runs commands only in a sandbox that can read files, and neither write nor use the network.',
    default:
      'Runs commands without asking in a sandbox that can read files, and neither write nor use the network. Asks before anything else.',
    'accept-edits':
      'Changes files and runs commands in the folder without asking, in a sandbox without network access. Asks before anything else.',
    bypass: 'Runs everything without asking and without a sandbox.',
  },
  gemini: {
    plan: 'Reads and plans, and changes nothing.',
    default:
      'Asks before it changes files, runs commands or fetches from the web. Reads files without asking.',
    'accept-edits': 'Changes files without asking. Asks before it runs commands or fetches from the web.',
    bypass: 'Runs everything without asking.',
  },
  opencode: {
    plan: 'Reads and plans. Changes no files; asks before it runs commands or fetches from the web.',
    default:
      'Asks before it changes files, runs commands or fetches from the web. Reads files in the folder without asking. Its subagents can only read.',
    'accept-edits':
      'Changes files in the folder without asking. Asks before it runs commands or fetches from the web. Its subagents can only read.',
    bypass: 'Runs everything without asking, but what its configuration denies. Its subagents can only read.',
  },
}
