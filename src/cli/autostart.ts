import { ENVIRONMENT } from '#app'
import { join } from 'node:path'
import { toDaemonCommand, type Site } from './site.ts'

/** How a system starts programs with a person's login. */
export interface Autostart {
  readonly manager: 'systemd' | 'launchd'
  /** Where it looks for the file. */
  readonly path: string
  readonly content: string
  /** The commands that make it take effect, and those that undo it. */
  readonly enable: readonly (readonly [program: string, ...args: string[]])[]
  readonly disable: readonly (readonly [program: string, ...args: string[]])[]
}

const UNIT = 'throughline.service'
const LABEL = 'dev.throughline.daemon'

/** The plan for this machine; `undefined` where neither is known. */
export function findAutostart(site: Site, platform: string): Autostart | undefined {
  if (platform === 'linux') return toSystemd(site)
  return platform === 'darwin' ? toLaunchd(site) : undefined
}

/** Settings that are given on: the daemon must look where the person looks. A password stands in `config.json`. */
function settingsOf({ env }: Site): readonly (readonly [name: string, value: string])[] {
  return ENVIRONMENT.flatMap(({ name, isSecret }) => {
    const value = env[name]
    return value === undefined || value === '' || isSecret === true ? [] : [[name, value] as const]
  })
}

function toSystemd(site: Site): Autostart {
  const folder = join(site.env['XDG_CONFIG_HOME'] || join(site.userHome, '.config'), 'systemd', 'user')
  const lines = [
    '[Unit]',
    'Description=Throughline: makes the sessions of coding agents durable',
    '',
    '[Service]',
    `ExecStart=${toDaemonCommand(site).map(quoteWord).join(' ')}`,
    ...settingsOf(site).map(([name, value]) => `Environment=${quoteSetting(`${name}=${value}`)}`),
    'Restart=on-failure',
    'RestartSec=2',
    'UMask=0077',
    'NoNewPrivileges=yes',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ]
  const systemctl = ['systemctl', '--user'] as const
  return {
    manager: 'systemd',
    path: join(folder, UNIT),
    content: lines.join('\n'),
    enable: [
      [...systemctl, 'daemon-reload'],
      [...systemctl, 'enable', '--now', UNIT],
    ],
    disable: [[...systemctl, 'disable', '--now', UNIT]],
  }
}

/** systemd reads `%` as a specifier, everywhere. */
function quoteSetting(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('\n', '\\n')
  return `"${escaped}"`
}

/** …and in a command line `$` as a variable. */
function quoteWord(text: string): string {
  return quoteSetting(text).replaceAll('$', '$$$$')
}

function toLaunchd(site: Site): Autostart {
  const path = join(site.userHome, 'Library', 'LaunchAgents', `${LABEL}.plist`)
  const settings = settingsOf(site)
    .map(([name, value]) => `    <key>${name}</key>\n    <string>${escapeXml(value)}</string>\n`)
    .join('')
  const content = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${toDaemonCommand(site)
  .map((word) => `    <string>${escapeXml(word)}</string>\n`)
  .join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${settings}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`
  return {
    manager: 'launchd',
    path,
    content,
    enable: [['launchctl', 'load', '-w', path]],
    disable: [['launchctl', 'unload', '-w', path]],
  }
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
