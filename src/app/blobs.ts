import { createHash } from 'node:crypto'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { field, ThroughlineError } from '#base'
import { replaceFile } from '#journal'

/** Bytes that are kept under their own hash, in `<home>/blobs`. */
export interface Blobs {
  /** On disk when it resolves, readable by its owner only. Gives the SHA-256 in hex. */
  put(bytes: Uint8Array): Promise<string>
  find(hash: string): Promise<Buffer | undefined>
}

/** A larger file is not copied. */
export const LARGEST_BLOB: number = 64 * 1024 * 1024

export function createBlobs(home: string): Blobs {
  const dir = join(home, 'blobs')
  return {
    async put(bytes) {
      if (bytes.length > LARGEST_BLOB) {
        throw new ThroughlineError('request-invalid', `the file has more than ${LARGEST_BLOB} bytes`, {
          hint: 'Remember where it is instead.',
        })
      }
      const hash = createHash('sha256').update(bytes).digest('hex')
      const path = join(dir, hash)
      const known = await stat(path).catch(() => undefined)
      if (known?.size === bytes.length) return hash
      await mkdir(dir, { recursive: true, mode: 0o700 })
      await replaceFile(path, bytes)
      return hash
    },
    async find(hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return undefined
      return await readFile(join(dir, hash)).catch((error: unknown) => {
        if (field(error, 'code') === 'ENOENT') return undefined
        throw error
      })
    },
  }
}
