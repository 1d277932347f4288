import { ENVIRONMENT } from '#app'
import { join } from 'node:path'
import { toDaemonCommand, type Site } from './site.ts'

/** How a system starts programs with a person's login. */
export interface Autostart {
  readonly manager: 'systemd' | 'launchd'
  /** Where it looks for the file. */
  readonly path: string
  readonly content: string
  /** What the system made of the file when it was enabled; goes with it. */
  readonly links: readonly string[]
  /** The commands that make it take effect. */
  readonly enable: readonly Words[]
  /** The commands that stop what runs once the file and its links are gone. */
  readonly disable: readonly Words[]
}

export type Words = readonly [program: string, ...args: string[]]

const UNIT = 'throughline.service'
const TARGET = 'default.target'
const LABEL = 'dev.throughline.daemon'

/** The plan for this machine; `undefined` where neither is known. */
export function findAutostart(site: Site, platform: string): Autostart | undefined {
  if (platform === 'linux') return toSystemd(site)
  return platform === 'darwin' ? toLaunchd(site) : undefined
}

/**
 * Settings that are given on: the daemon must look where the person looks, also for the programs of agents, which stand
 * in folders that systemd and launchd do not know. A password stands in `config.json`.
 */
function settingsOf({ env }: Site): readonly (readonly [name: string, value: string])[] {
  const names = ENVIRONMENT.flatMap(({ name, isSecret }) => (isSecret === true ? [] : [name]))
  return [...names, 'PATH'].flatMap((name) => {
    const value = env[name]
    return value === undefined || value === '' ? [] : [[name, value] as const]
  })
}

/** The content without its PATH, which differs from shell to shell and says nothing about place or version. */
export function withoutPath(content: string): string {
  return content
    .replace(/^Environment="PATH=.*\n/m, '')
    .replace(/^ *<key>PATH<\/key>\n *<string>.*<\/string>\n/m, '')
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
    `WantedBy=${TARGET}`,
    '',
  ]
  const systemctl = ['systemctl', '--user'] as const
  return {
    manager: 'systemd',
    path: join(folder, UNIT),
    content: lines.join('\n'),
    links: [join(folder, `${TARGET}.wants`, UNIT)],
    enable: [
      [...systemctl, 'daemon-reload'],
      [...systemctl, 'enable', '--now', UNIT],
    ],
    disable: [
      [...systemctl, 'stop', UNIT],
      [...systemctl, 'daemon-reload'],
    ],
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
    links: [],
    enable: [['launchctl', 'load', '-w', path]],
    disable: [['launchctl', 'remove', LABEL]],
  }
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
