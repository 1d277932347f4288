import { randomBytes } from 'node:crypto'
import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ThroughlineError } from '#base'
import { syncFolder } from './file.ts'

/**
 * Gives a file new content, all or nothing: whoever looks, even after a power cut, finds the old bytes or the new
 * ones, and the new ones once this has resolved. The file is 0600.
 */
export async function replaceFile(path: string, bytes: Uint8Array | string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
      // Without this, xfs was seen to keep the new name and an empty file.
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    // Without this, a power cut brings the old content back.
    await syncFolder(dirname(path))
  } catch (cause) {
    await unlink(temporary).catch(() => {})
    throw new ThroughlineError('journal-unwritable', `cannot replace ${path}`, {
      hint: 'Check the free space and the permissions of its folder, then try again.',
      cause,
    })
  }
}
