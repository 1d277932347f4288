import type { CommandSpec, OptionSpec } from './command.ts'
import { JSON_OPTION } from './reading-commands.ts'

const NO_OPEN: OptionSpec = { name: 'no-open', summary: 'Do not open a browser.' }

/** The commands about the daemon and those who may ask it. */
export const daemonCommands: readonly CommandSpec[] = [
  {
    name: 'start',
    summary:
      'Start the daemon in the background, or find the running one. `throughline` alone does the same.',
    description:
      'Prints the address, and opens it in a browser where there is one. The browser is let in by a code that works once, for a minute, and stands in no command line and no log.',
    args: [],
    options: [NO_OPEN, JSON_OPTION],
    examples: [
      { line: 'throughline', says: 'start it and look' },
      { line: 'throughline --no-open', says: 'only start it' },
    ],
  },
  {
    name: 'serve',
    summary: 'Run the daemon in this terminal.',
    description:
      'Listens on this machine only. Any other address needs a certificate and the names it may be called by.',
    args: [],
    options: [
      { name: 'host', value: 'address', summary: 'Where to listen. Default: 127.0.0.1.' },
      {
        name: 'port',
        value: 'n',
        summary: 'Default: the last one, 4700, or one that depends on THROUGHLINE_HOME.',
      },
      { name: 'tls-cert', value: 'file', summary: 'A certificate, as PEM.' },
      { name: 'tls-key', value: 'file', summary: 'Its key, as PEM.' },
      {
        name: 'allow-host',
        value: 'names',
        summary: 'Further names it may be called by, separated by commas: that of a tunnel or proxy.',
      },
      { name: 'json', summary: 'Print what happens as JSON, one object per line.' },
    ],
    examples: [
      { line: 'throughline serve', says: 'here, until Ctrl+C' },
      {
        line: 'throughline serve --host 0.0.0.0 --tls-cert c.pem --tls-key k.pem --allow-host desk.example',
        says: 'for other devices',
      },
    ],
  },
  {
    name: 'status',
    summary: 'Say how the daemon is, who is live, and who waits for you.',
    description:
      'Also how far the index and the archive are, how many devices are logged in, and what is to be known.',
    args: [],
    options: [JSON_OPTION],
    examples: [
      { line: 'throughline status', says: 'everything at a glance' },
      { line: 'throughline status --json | jq .sessions.waitingForYou', says: 'how many wait' },
    ],
    exits: [
      [0, 'it runs'],
      [3, 'it does not'],
    ],
  },
  {
    name: 'stop',
    summary: 'Stop the daemon, and wait until it is gone.',
    description: 'Devices stay logged in. Nothing is lost: the next start goes on where this one ended.',
    args: [],
    options: [JSON_OPTION],
    examples: [{ line: 'throughline stop', says: 'stop it' }],
  },
  {
    name: 'open',
    summary: 'Open the running daemon in a browser.',
    description:
      'The browser is logged in by a code that works once, for a minute, and is in no command line and no log. Where no browser can be opened (SSH, a container, WSL) the link is printed, to open it elsewhere.',
    args: [],
    options: [JSON_OPTION],
    examples: [{ line: 'throughline open', says: 'look' }],
  },
  {
    name: 'demo',
    summary: 'Put sample sessions among yours, to have something to look at.',
    description:
      'Starts the daemon if none runs, and opens it in a browser where there is one. The samples are written to a folder of their own below the home folder, are marked as samples, and go as they came. With --sandbox they are in a scratch folder instead, with a daemon and empty homes of all agents of its own: nothing of yours is read, archived or written. It prints the line that leads a shell there, and how to remove it.',
    args: [],
    options: [
      { name: 'remove', summary: 'Take them away again.' },
      { name: 'sandbox', summary: 'Try everything in a scratch folder, without your own sessions.' },
      NO_OPEN,
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline demo', says: 'have a look' },
      { line: 'throughline demo --sandbox', says: 'try it without touching your own data' },
      { line: 'throughline demo --remove', says: 'enough seen' },
    ],
  },
  {
    name: 'logs',
    summary: 'Print what the daemon logged.',
    description: 'The newest last. Nothing in it can act on the terminal.',
    args: [],
    options: [
      { name: 'lines', value: 'n', summary: 'How many, from the end. Default: 50.' },
      { name: 'follow', summary: 'Go on until Ctrl+C.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline logs', says: 'the last fifty' },
      { line: 'throughline logs --follow', says: 'as they come' },
    ],
  },
  {
    name: 'pair',
    summary: 'Log another device in with a QR code, or a browser with a link.',
    description:
      'For the address under which the other device reaches the daemon: its own with a certificate, or that of a tunnel. Without an address it prints a link for a browser on this machine, which also works through a forwarded port. The code works once, for a minute. Plain http is refused, except on this machine.',
    args: [],
    options: [
      {
        name: 'url',
        value: 'address',
        summary: 'The address. Default: `url` in config.json of the home folder, else this machine.',
      },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline pair', says: 'a link for a browser here, or behind `ssh -L`' },
      { line: 'throughline pair --url https://desk.example:4700', says: 'scan it with the phone' },
    ],
  },
  {
    name: 'devices',
    summary: 'List the devices that are logged in, or take one back.',
    description: 'A device that is revoked is cut off at once.',
    args: [],
    options: [{ name: 'revoke', value: 'id', summary: 'Log this one out.' }, JSON_OPTION],
    examples: [
      { line: 'throughline devices', says: 'who may ask' },
      { line: 'throughline devices --revoke 3f9c2a', says: 'the lost phone' },
    ],
  },
  {
    name: 'service',
    summary: 'Start the daemon with your login: systemd or launchd.',
    description:
      'Writes one file into the folder where systemd or launchd looks for those of a user, and says how to enable it. With --now it does that too.',
    args: [
      {
        name: 'action',
        summary: 'install, uninstall or status.',
        required: true,
        values: ['install', 'uninstall', 'status'],
      },
    ],
    options: [{ name: 'now', summary: 'Enable and start it, or stop and disable it.' }, JSON_OPTION],
    examples: [
      { line: 'throughline service install', says: 'write the file, say the command' },
      { line: 'throughline service install --now', says: 'and run it' },
      { line: 'throughline service uninstall --now', says: 'no longer' },
    ],
    exits: [
      [0, 'done; with status: it is installed'],
      [3, 'with status: it is not installed'],
    ],
  },
]
