import { createHash } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ThroughlineError } from '#base'
import type { FileBinding } from '#model'
import { LARGEST_BLOB } from './blobs.ts'
import { isWithin, realPathOf } from './config.ts'
import type { Config } from './throughline.ts'

/** A file as it is now. */
export interface ReadFile extends FileBinding {
  readonly bytes: Buffer
}

export interface FilesOptions {
  readonly workdir: string | undefined
  readonly config: Pick<Config, 'home' | 'allowedRoots'>
}

/**
 * Reads files that somebody named: in the folder, or anywhere with an absolute path. Throws `request-invalid` for one
 * that is not there, that is outside, or that may not be shown.
 */
export async function readNamedFiles(
  paths: readonly string[],
  options: FilesOptions,
): Promise<readonly ReadFile[]> {
  const files: ReadFile[] = []
  for (const path of new Set(paths)) files.push(await readNamed(path, options))
  return files
}

async function readNamed(path: string, { workdir, config }: FilesOptions): Promise<ReadFile> {
  if (!isAbsolute(path) && workdir === undefined) {
    throw refused(path, 'is not absolute', 'Say in which folder: `workdir`.')
  }
  const real = await realpath(isAbsolute(path) ? path : join(workdir ?? '', path)).catch(() => undefined)
  if (real === undefined) throw refused(path, 'is not there', 'Give a file that can be read.')
  if (!isAbsolute(path) && !isWithin(real, [realPathOf(workdir ?? '')])) {
    throw refused(path, 'is outside its folder', 'Give a path inside the folder, or an absolute one.')
  }
  const { allowedRoots, home } = config
  const isHidden = allowedRoots.length > 0 && !isWithin(real, allowedRoots)
  // Keys of this machine are in there.
  if (isHidden || isWithin(real, [realPathOf(home)])) {
    throw refused(path, 'may not be shown', 'Give a file of a folder that is shown here.')
  }
  const found = await stat(real).catch(() => undefined)
  if (found?.isFile() !== true) throw refused(path, 'is no file', 'Give a file.')
  if (found.size > LARGEST_BLOB) throw refused(path, 'is too large', `At most ${LARGEST_BLOB} bytes.`)
  const bytes = await readFile(real).catch(() => undefined)
  if (bytes === undefined) throw refused(path, 'cannot be read', 'Check its permissions.')
  return { path: real, hash: createHash('sha256').update(bytes).digest('hex'), bytes }
}

function refused(path: string, why: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `files: ${path} ${why}`, { hint })
}
