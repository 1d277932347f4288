import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { ThroughlineError } from '#base'
import type { BlobReference, DamageReason } from '#model'
import { MAX_LINE } from '../forward.ts'
import { openTranscript } from '../transcript-file.ts'

/** Reads what was taken out of the lines of one transcript. */
export interface BlobReader {
  /** The text, verified by its hash. Never throws on content, and follows no link. */
  read(reference: BlobReference): string | undefined
  /** Why something could not be read, if that happened; a file that says something else comes before one that is gone. */
  readonly damage: DamageReason | undefined
}

/** Of what is longer the place stands where it was, as of a line that is too long to hold. */
const LARGEST = 4 * MAX_LINE

export function createBlobReader(path: string): BlobReader {
  const folder = blobFolder(path)
  let damage: DamageReason | undefined
  return {
    read({ sha256, bytes }) {
      if (bytes > LARGEST) return undefined
      const content = readBytes(join(folder, sha256))
      if (content === undefined) {
        damage ??= 'blob-missing'
        return undefined
      }
      if (createHash('sha256').update(content).digest('hex') === sha256) return content.toString('utf8')
      damage = 'blob-changed'
      return undefined
    },
    get damage() {
      return damage
    },
  }
}

/** A session has one folder for them, whichever of its files the line is in. */
function blobFolder(path: string): string {
  const session = /^.*[\\/]\.entire[\\/]metadata[\\/][^\\/]+/.exec(path)?.[0]
  return join(session ?? join(path, '..'), 'blobs')
}

function readBytes(path: string): Buffer | undefined {
  try {
    const file = openTranscript(path)
    try {
      if (file.size > LARGEST) return undefined
      const buffer = Buffer.allocUnsafe(file.size)
      return buffer.subarray(0, file.readNow(buffer, buffer.length, 0))
    } finally {
      file.close()
    }
  } catch (error) {
    if (error instanceof ThroughlineError) return undefined
    throw error
  }
}
