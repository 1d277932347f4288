import { ENVIRONMENT } from '#app'
import type { CommandSpec, OptionSpec, Variable } from './command.ts'
import { daemonCommands } from './daemon-commands.ts'
import { keepingCommands } from './keeping-commands.ts'
import { connectCommands } from './connect-commands.ts'
import { liveCommands } from './live-commands.ts'
import { memoryCommands } from './memory-commands.ts'
import { readingCommands } from './reading-commands.ts'
import { restoringCommands } from './restoring-commands.ts'
import { recordingCommands } from './recording-commands.ts'
import { searchingCommands } from './searching-commands.ts'
import { teamCommands } from './team-commands.ts'

/** Every command of `throughline`, in the order the help shows them. */
export const commands: readonly CommandSpec[] = [
  ...readingCommands,
  ...searchingCommands,
  ...memoryCommands,
  ...keepingCommands,
  ...liveCommands,
  ...restoringCommands,
  ...teamCommands,
  ...recordingCommands,
  ...connectCommands,
  ...daemonCommands,
]

/** Options that every command takes. */
export const everywhere: readonly OptionSpec[] = [
  { name: 'help', summary: 'Explain a command.' },
  { name: 'version', summary: 'Print the version.' },
]

/** Everything the command line reads from the environment. */
export const variables: readonly Variable[] = [
  ...ENVIRONMENT.map(({ name, meaning, fallback }) => ({
    name,
    summary: `${meaning} Default: ${fallback}.`,
  })),
  { name: 'NO_COLOR', summary: 'Set to anything: no colours. Default: colours only in a terminal.' },
  { name: 'FORCE_COLOR', summary: 'Set to anything but 0: colours also in a pipe.' },
  { name: 'TERM', summary: 'Set to dumb by terminals that know no colours.' },
  { name: 'COLUMNS', summary: 'How wide a line may be. Default: the width of the terminal, else 100.' },
  {
    name: 'DISPLAY',
    summary: 'Set, as is WAYLAND_DISPLAY, where a browser can be opened. On Linux only.',
  },
  { name: 'WAYLAND_DISPLAY', summary: 'See DISPLAY.' },
  {
    name: 'XDG_CONFIG_HOME',
    summary:
      'Where `service install` puts its unit, systemd/user below it, and where opencode has its settings. Default: ~/.config.',
  },
  {
    name: 'XDG_STATE_HOME',
    summary: 'Where opencode says which model was used last. Default: ~/.local/state.',
  },
  {
    name: 'OPENCODE_CONFIG',
    summary: 'More settings of opencode: a session that is written for it goes on with the model they name.',
  },
  { name: 'OPENCODE_CONFIG_CONTENT', summary: 'The settings of opencode themselves.' },
  { name: 'HOME', summary: 'The folder of the person: `~` everywhere here.' },
  {
    name: 'CLAUDE_CODE_SESSION_ID',
    summary: 'Set by Claude Code: the session in which `mcp` remembers something.',
  },
  {
    name: 'ANTHROPIC_BASE_URL',
    summary: 'Where `record` passes requests for Anthropic on to; the command sees the address of the proxy.',
  },
  { name: 'OPENAI_BASE_URL', summary: 'The same for OpenAI.' },
  { name: 'GOOGLE_GEMINI_BASE_URL', summary: 'The same for Gemini.' },
  {
    name: 'NODE_EXTRA_CA_CERTS',
    summary: 'Certificates of further authorities, as for any program of Node.',
  },
  {
    name: 'NO_PROXY',
    summary:
      'What is asked directly. Where a proxy is set, `record` adds this machine to it for the command.',
  },
  { name: 'no_proxy', summary: 'See NO_PROXY.' },
  {
    name: 'ENTIRE_REPO_ROOT',
    summary: 'Set by Entire: the repository for which `entire-agent-throughline` is asked.',
  },
  {
    name: 'VISUAL',
    summary: 'The editor in which the input of a tool is changed before it runs. Default: EDITOR.',
  },
  { name: 'EDITOR', summary: 'See VISUAL. Without either it is typed as a line.' },
  { name: 'THROUGHLINE_DEBUG', summary: 'Set to 1 to see where an unexpected error came from.' },
]
