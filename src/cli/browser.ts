import type { RemoteThroughline } from '#client'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import type { DaemonLink } from './daemon-link.ts'
import type { Site } from './site.ts'

/** A code is good for a minute; so is the file that holds it. */
const LIFE_MS = 60_000

/**
 * Opens the daemon's page in the person's browser, logged in. False when there is no browser. The code goes through a
 * file that only its owner can read: a command line can be read by everybody.
 */
export async function openInBrowser(
  site: Site,
  link: DaemonLink,
  throughline: RemoteThroughline,
): Promise<boolean> {
  const opener = findOpener(site.env)
  if (opener === undefined) return false
  const file = writeRedirect(site.home, (await createLoginLink(link.page, throughline)).link)
  const [program, ...args] = opener
  const child = spawn(program, [...args, file], { detached: true, stdio: 'ignore', env: site.env })
  const isStarted = await new Promise<boolean>((done) => {
    child.once('spawn', () => done(true))
    child.once('error', () => done(false))
  })
  child.unref()
  if (isStarted) removeLater(site, file)
  else rmSync(file, { force: true })
  return isStarted
}

/** A link that logs one browser in. */
export interface LoginLink {
  readonly link: string
  readonly code: string
  readonly expiresAt: string
}

/** A link to type or paste where no browser could be opened: over SSH, in a container, under WSL. */
export async function createLoginLink(
  address: string,
  throughline: Pick<RemoteThroughline, 'createCode'>,
): Promise<LoginLink> {
  const { code, expiresAt } = await throughline.createCode()
  return { link: `${address}/#code=${encodeURIComponent(code)}`, code, expiresAt }
}

/** What to do with it on a machine without a browser. */
export function toForwardHint(port: number): string {
  return `note: for a browser on another machine, forward the port first: ssh -L ${port}:127.0.0.1:${port} <this machine>`
}

function findOpener(
  env: Readonly<Record<string, string | undefined>>,
): readonly [program: string, ...args: string[]] | undefined {
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['cmd', '/c', 'start', '']
  if (!env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return undefined
  const folder = (env['PATH'] ?? '')
    .split(delimiter)
    .find((path) => path !== '' && canRun(join(path, 'xdg-open')))
  return folder === undefined ? undefined : [join(folder, 'xdg-open')]
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function writeRedirect(home: string, address: string): string {
  const folder = join(home, 'run')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  sweep(folder)
  const file = join(folder, `open-${randomBytes(8).toString('hex')}.html`)
  // The address is ours: a name, a port and a code of letters and digits.
  const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${address}"><title>Throughline</title>\n`
  writeFileSync(file, page, { mode: 0o600, flag: 'wx' })
  return file
}

/** What a former call could not remove. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (/^open-[0-9a-f]+\.html$/.test(name) && Date.now() - statSync(path).mtimeMs > LIFE_MS) {
      rmSync(path, { force: true })
    }
  }
}

/** The command is over long before the file may go, so somebody else removes it. */
function removeLater(site: Site, file: string): void {
  const script = `setTimeout(() => require('node:fs').rmSync(process.argv[1], { force: true }), ${LIFE_MS})`
  spawn(site.program[0], ['-e', script, file], { detached: true, stdio: 'ignore', env: {} }).unref()
}
