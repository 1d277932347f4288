import { createHash } from 'node:crypto'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** sun_path has 104 bytes on macOS and 108 on Linux. */
const ADDRESS_BYTES = 100

/**
 * Uses the address of a socket. One that is too long for the system is reached through a link that only this call
 * knows. On Windows it is a pipe of a name that only this path gives.
 */
export async function withAddress<T>(path: string, use: (address: string) => Promise<T>): Promise<T> {
  if (process.platform === 'win32') {
    return await use(`\\\\.\\pipe\\throughline-${createHash('sha256').update(path).digest('hex')}`)
  }
  if (Buffer.byteLength(path) <= ADDRESS_BYTES) return await use(path)
  const place = await mkdtemp(join(tmpdir(), 'tl-'))
  try {
    await symlink(dirname(path), join(place, 'l'))
    return await use(join(place, 'l', basename(path)))
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}
