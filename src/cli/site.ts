import type { LocalThroughline, Throughline } from '#app'
import { join } from 'node:path'
import { findReadyDaemon, type DaemonLink } from './daemon-link.ts'

/** Where a command runs: whose folders, which program, which settings. */
export interface Site {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The person's home folder. */
  readonly userHome: string
  /** Throughline's own folder, Claude Code's, and the folders that sessions must have worked in to be shown. */
  readonly home: string
  readonly claudeDir: string
  readonly allowedRoots: readonly string[]
  /** This very program: its interpreter and its main file. */
  readonly program: readonly [interpreter: string, main: string]
  readonly version: string
  openLocal(): Promise<LocalThroughline>
}

/** What the daemon logs, the newest last. */
export function logPathOf(site: Site): string {
  return join(site.home, 'logs', 'daemon.jsonl')
}

/** Asks the daemon of this home when one runs, else does it in this process. Which one it was makes no difference. */
export async function openAnywhere(site: Site): Promise<Throughline> {
  const link = await findReadyDaemon(site.home)
  const remote = link && (await connectIfSame(site, () => link.connect()))
  return remote ?? (await site.openLocal())
}

/** The same for whoever listens to what happens. Live sessions have processes of their own, and outlive both. */
export async function openLiveAnywhere(site: Site): Promise<Throughline> {
  const link = await findReadyDaemon(site.home)
  const remote = link && (await connectIfSame(site, () => link.connectLive()))
  return remote ?? (await site.openLocal())
}

/** A daemon that was started with other settings shows other sessions: it is not asked. */
async function connectIfSame(site: Site, connect: DaemonLink['connect']): Promise<Throughline | undefined> {
  try {
    const remote = await connect()
    const { lookedIn, allowedRoots } = await remote.list({ limit: 1 })
    const isSame =
      lookedIn.includes(join(site.claudeDir, 'projects')) &&
      JSON.stringify(allowedRoots) === JSON.stringify(site.allowedRoots)
    return isSame ? remote : undefined
  } catch {
    // It stopped meanwhile, or is of another version. The files are here all the same.
    return undefined
  }
}

/**
 * The daemon as a command line. It lives long and mostly waits: a small nursery keeps what it holds of memory small
 * (measured at 2,000 sessions: 118 MB instead of 144), and costs it nothing.
 */
export function toDaemonCommand({
  program: [interpreter, main],
}: Pick<Site, 'program'>): readonly [string, ...string[]] {
  return [interpreter, '--max-semi-space-size=2', main, 'serve']
}
