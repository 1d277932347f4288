import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { constants, fstatSync } from 'node:fs'
import { chmod, link, lstat, mkdir, open, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { field, ThroughlineError } from '#base'

const BYTES = 32

/** Makes a home where there is none. Refuses one that others may look into, or that belongs to somebody else. */
export async function openHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  checkPrivate(home, await stat(home))
}

/**
 * The secret of a home, made where there is none. Refuses a secret that others may read: whoever can read it can do
 * everything.
 */
export async function openSecret(home: string): Promise<Buffer> {
  await openHome(home)
  const path = join(home, 'secret')
  if (!(await isThere(path))) await makeSecret(path)
  return await readSecret(home)
}

/** The secret of a home whose daemon has made one. */
export async function readSecret(home: string): Promise<Buffer> {
  const path = join(home, 'secret')
  const file = await open(
    path,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  )
  try {
    const stats = fstatSync(file.fd)
    checkPrivate(path, stats)
    const bytes = await file.readFile()
    if (stats.isFile() && bytes.length === BYTES) return bytes
  } finally {
    await file.close()
  }
  throw new ThroughlineError('config-invalid', `${path} is not a secret of ${BYTES} bytes`, {
    hint: `Delete it and start again; every device then has to log in anew: rm ${path}`,
  })
}

/** Nobody ever sees half of it: it gets its name when it is on disk, and only if the name is free. */
async function makeSecret(path: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(randomBytes(BYTES))
    await file.sync()
    await link(temporary, path)
  } catch (error) {
    if (field(error, 'code') !== 'EEXIST') throw error
  } finally {
    await file.close()
    await unlink(temporary)
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return false
    throw error
  }
}

function checkPrivate(path: string, stats: { readonly mode: number; readonly uid: number }): void {
  // Windows has no modes; what users keep in their profile is theirs.
  const uid = process.getuid?.()
  if (uid === undefined) return
  if (stats.uid !== uid) {
    throw new ThroughlineError('config-invalid', `${path} belongs to another user`, {
      hint: 'Choose a home of your own with THROUGHLINE_HOME.',
    })
  }
  if ((stats.mode & 0o077) === 0) return
  throw new ThroughlineError('config-invalid', `${path} can be read by other users`, {
    hint: `Take their rights away: chmod go-rwx ${path}`,
  })
}

/** Makes a folder of the home that only its owner may enter, whatever the umask. */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  await chmod(path, 0o700)
}

/** The token of whoever can read the secret: the command line on the same machine. Never stored. */
export function toLocalToken(secret: Uint8Array): string {
  return createHmac('sha256', secret).update('throughline local v1').digest('base64url')
}

/**
 * What only a holder of the secret can answer to a nonce. The port is part of it, so that a stranger cannot pass the
 * question on to a daemon that listens elsewhere.
 */
export function toProof(secret: Uint8Array, of: { readonly nonce: string; readonly port: number }): string {
  return createHmac('sha256', secret)
    .update(`throughline prove v1\0${of.port}\0${of.nonce}`)
    .digest('base64url')
}

/** Whether two texts are the same, in a time that says nothing about where they differ. */
export function isSameText(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
