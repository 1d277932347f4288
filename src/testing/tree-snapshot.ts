import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Everything in a folder: names, bytes, times and rights. Nothing of a folder that is not there. */
export async function snapshotOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {}
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names) {
    const path = join(folder, name)
    const stats = await lstat(path)
    const bytes = stats.isFile()
      ? createHash('sha256')
          .update(await readFile(path))
          .digest('hex')
      : ''
    found[name] = `${stats.mode} ${stats.mtimeMs} ${stats.ino} ${stats.isFile() ? stats.size : ''} ${bytes}`
  }
  return found
}
