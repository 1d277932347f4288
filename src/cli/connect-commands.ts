import type { ArgSpec, CommandSpec, OptionSpec } from './command.ts'
import { JSON_OPTION } from './reading-commands.ts'

const AGENT: ArgSpec = {
  name: 'agent',
  summary: 'claude-code, codex or gemini.',
  required: true,
  values: ['claude-code', 'codex', 'gemini'],
}
const DRY_RUN: OptionSpec = { name: 'dry-run', summary: 'Show every change, and make none.' }
const YES: OptionSpec = { name: 'yes', summary: 'Do not ask before a file of yours is changed.' }

/** The commands about agents that run in terminals of their own. */
export const connectCommands: readonly CommandSpec[] = [
  {
    name: 'connect',
    summary: 'Let an agent in any terminal ask what earlier sessions knew, and be answered from any device.',
    description:
      'Claude Code gets a plugin in its folder of skills, and no settings are changed: its hooks bring what was learned into new sessions and ask the daemon while a permission dialog is open, and it starts `throughline mcp`. Codex and Gemini get one entry for `throughline mcp` in config.toml or settings.json; the change is shown, and made when you say yes. All else in the file stays byte for byte. No file of instructions is touched.',
    args: [AGENT],
    options: [DRY_RUN, YES, JSON_OPTION],
    examples: [
      { line: 'throughline connect claude-code --dry-run', says: 'what would be written?' },
      { line: 'throughline connect claude-code', says: 'do it' },
      { line: 'throughline connect codex', says: 'show the change, and ask' },
    ],
  },
  {
    name: 'disconnect',
    summary: 'Take away again what `connect` wrote.',
    description:
      'Removes what `connect` wrote, and nothing else: a file that nobody else changed is what it was before, byte for byte.',
    args: [AGENT],
    options: [DRY_RUN, YES, JSON_OPTION],
    examples: [{ line: 'throughline disconnect claude-code', says: 'no longer' }],
  },
  {
    name: 'mcp',
    summary: 'Speak the Model Context Protocol on standard input and output, for agents.',
    description:
      'Agents start it themselves after `connect`. They can search and read sessions, recall and remember. It asks the daemon when one runs, else it does the work itself, and ends with its input. Standard output carries the protocol and nothing else. Over HTTP the daemon answers the same at /mcp.',
    args: [],
    options: [{ name: 'json', summary: 'Print how an agent starts it, for its settings, and end.' }],
    examples: [
      { line: 'claude mcp add throughline -- throughline mcp', says: 'for one agent, by hand' },
      { line: 'throughline mcp --json', says: 'for the settings of any other' },
    ],
  },
]
