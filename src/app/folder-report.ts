import { mkdir, stat } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { ThroughlineError } from '#base'
import { readFolderSettings } from '#drivers'
import type { Trust } from '#live'
import { byActivity, type SessionSummary } from '#model'
import type { FolderReport, KnownWorkdir } from '#wire'
import { isWithin, realPathOf } from './config.ts'
import type { Config } from './throughline.ts'

/** Where the scripted agent may be tried without harm. Made when somebody does. */
export function playgroundOf(home: string): string {
  return join(home, 'playground')
}

/** The folder with all links resolved. Throws `folder-not-found` when nobody may work there. */
export async function getWorkdir(workdir: string, { allowedRoots, home }: Config): Promise<string> {
  if (workdir === playgroundOf(home)) {
    await mkdir(workdir, { recursive: true, mode: 0o700 })
    return realPathOf(workdir)
  }
  if (!isAbsolute(workdir)) throw notThere(workdir, 'it does not begin at the root')
  const real = realPathOf(workdir)
  const isFolder = await stat(real).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) throw notThere(workdir, 'there is no such folder')
  if (allowedRoots.length === 0 || isWithin(real, allowedRoots)) return real
  throw notThere(workdir, 'it is outside the folders that ALLOWED_ROOTS names')
}

/** What would be loaded there, and whether that was trusted. */
export async function readFolder(
  workdir: string,
  { trust, config }: { readonly trust: Trust; readonly config: Config },
): Promise<FolderReport> {
  const settings = await readFolderSettings(workdir, { userDir: config.claudeDir })
  if (settings.files.length === 0) return { workdir, settings, trust: 'nothing-to-load' }
  return { workdir, settings, trust: await trust.find(workdir, settings.hash) }
}

/** The folders of sessions of this machine, those of the latest first, and whether each can still be worked in. */
export async function listWorkdirs(
  sessions: readonly SessionSummary[],
  config: Config,
): Promise<readonly KnownWorkdir[]> {
  const own = sessions.filter(({ demo, origin }) => demo !== true && origin === undefined)
  const names = new Set(own.toSorted(byActivity).flatMap(({ workdirs }) => workdirs.toReversed()))
  return await Promise.all(
    [...names].map(async (workdir) => {
      const report = workdir === playgroundOf(config.home) ? workdir : getWorkdir(workdir, config)
      const exists = await Promise.resolve(report).then(
        () => true,
        () => false,
      )
      return { workdir, exists }
    }),
  )
}

/** Where a session continues: where it began, as long as that exists. */
export function findWorkdir({ id, workdirs }: SessionSummary): string {
  const [first] = workdirs
  if (first !== undefined && existsSync(first)) return first
  throw new ThroughlineError(
    'folder-not-found',
    first === undefined ? `session ${id} names no folder` : `${first} no longer exists`,
    { hint: 'Choose a folder to continue in; programs give it as `workdir`.' },
  )
}

function notThere(workdir: string, why: string): ThroughlineError {
  return new ThroughlineError('folder-not-found', `${workdir} cannot be worked in: ${why}`, {
    hint: 'Give the whole path of a folder that is there.',
  })
}
