import { realpath, stat } from 'node:fs/promises'
import type { Ask, PermissionMode } from '#model'
import { isWithin } from './permission-mode.ts'

/**
 * Takes note of what an approval relies on beside the ask itself, and gives a function that says, in words for a person,
 * what of it has changed since. `undefined`: nothing has.
 */
export type WatchGrounds = (ask: Ask) => Promise<FindChange>
export type FindChange = () => Promise<string | undefined>

/** The folder in which the tool will run: the same path may lead to another one a moment later. */
export async function watchFolder({ workdir }: Pick<Ask, 'workdir'>): Promise<FindChange> {
  const before = await identify(workdir)
  return async () => {
    const now = await identify(workdir)
    if (now === before) return undefined
    return now === undefined ? 'the folder is gone' : 'the folder was replaced or points to another place now'
  }
}

/** The permission mode. A mode that asks a person less takes nothing from what they saw; one that asks more does. */
export function watchMode(read: () => PermissionMode): FindChange {
  const before = read()
  return () => {
    const now = read()
    return Promise.resolve(isWithin(before, now) ? undefined : `the mode changed from ${before} to ${now}`)
  }
}

async function identify(workdir: string): Promise<string | undefined> {
  try {
    const path = await realpath(workdir)
    const { dev, ino } = await stat(path, { bigint: true })
    return `${dev}:${ino}:${path}`
  } catch {
    return undefined
  }
}
