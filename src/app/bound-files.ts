import { createHash } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import type { FileBinding } from '#model'
import type { BoundFile } from '#wire'

/** A file that is larger is not bound: reading it would take longer than what was learned from it is worth. */
const LARGEST = 16 * 1024 * 1024

/**
 * Files as they are now, by the hash of their bytes. Those that are not there, are outside the folder, or are too
 * large to be looked at again and again, are left out.
 */
export async function bindFiles(
  paths: readonly string[],
  workdir: string | undefined,
): Promise<readonly FileBinding[]> {
  if (workdir === undefined) return []
  const bound: FileBinding[] = []
  for (const path of new Set(paths)) {
    const real = await findInside(path, workdir)
    const hash = real === undefined ? undefined : await hashOf(real)
    if (real !== undefined && hash !== undefined) bound.push({ path: real, hash })
  }
  return bound
}

/** How a file stands against what it was. */
export async function toBoundFile({ path, hash }: FileBinding): Promise<BoundFile> {
  const now = await hashOf(path)
  return { path, state: now === undefined ? 'gone' : now === hash ? 'same' : 'changed' }
}

async function findInside(path: string, workdir: string): Promise<string | undefined> {
  try {
    const real = await realpath(isAbsolute(path) ? path : join(workdir, path))
    const root = await realpath(workdir)
    return real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`) ? real : undefined
  } catch {
    return undefined
  }
}

async function hashOf(path: string): Promise<string | undefined> {
  try {
    const file = await stat(path)
    if (!file.isFile() || file.size > LARGEST) return undefined
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
  } catch {
    return undefined
  }
}
