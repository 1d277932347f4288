import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { FileBinding } from '#model'
import type { BoundFile } from '#wire'
import { LARGEST_BLOB } from './blobs.ts'
import { isWithin, realPathOf } from './config.ts'
import { readNamedFiles, type FilesOptions } from './memory-files.ts'

/** Files that an agent named, as they are now. Those outside its folder, and those nobody may name, are left out. */
export async function bindFiles(
  paths: readonly string[],
  options: FilesOptions,
): Promise<readonly FileBinding[]> {
  const { workdir } = options
  if (workdir === undefined) return []
  const root = realPathOf(workdir)
  const bound: FileBinding[] = []
  for (const path of new Set(paths)) {
    if (!isWithin(isAbsolute(path) ? path : join(root, path), [root])) continue
    const [file] = await readNamedFiles([path], options).catch(() => [])
    if (file !== undefined) bound.push({ path: file.path, hash: file.hash })
  }
  return bound
}

/** How a file stands against what it was. */
export async function toBoundFile({ path, hash }: FileBinding): Promise<BoundFile> {
  const now = await hashOf(path)
  return { path, state: now === undefined ? 'gone' : now === hash ? 'same' : 'changed' }
}

async function hashOf(path: string): Promise<string | undefined> {
  try {
    const file = await stat(path)
    if (!file.isFile() || file.size > LARGEST_BLOB) return undefined
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
  } catch {
    return undefined
  }
}
