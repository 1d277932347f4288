import { createHash } from 'node:crypto'
import { lstat, readdir, readFile, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { field } from '#base'
import { makeFolder, syncFolder } from './file.ts'
import { replaceFile } from './replace-file.ts'

/** What a blob says, or why it says nothing. */
export type BlobContent = { readonly text: string } | { readonly damage: 'missing' | 'changed' }

/** Texts in files that are named by their hash, so that the same text is stored once and no change goes unnoticed. */
export interface BlobStore {
  /** Resolves when the text is on disk under the given hash. */
  put(sha256: string, text: string): Promise<void>
  /** The text, verified. Never throws on content. */
  read(sha256: string): Promise<BlobContent>
  /** Removes all but these, and what a writer that was killed left behind. Nobody may write meanwhile. */
  sweep(kept: ReadonlySet<string>): Promise<readonly string[]>
}

/** SHA-256 of a text in UTF-8, in hexadecimal. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The blobs in a folder, which is made with the first of them. */
export function createBlobStore(folder: string): BlobStore {
  async function read(sha256: string): Promise<BlobContent> {
    if (!NAME.test(sha256)) return { damage: 'missing' }
    const bytes = await readIfThere(join(folder, sha256))
    if (!bytes) return { damage: 'missing' }
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) return { damage: 'changed' }
    return { text: bytes.toString('utf8') }
  }

  return {
    read,
    async put(sha256, text) {
      await makeFolder(folder)
      // A writer that was killed may have given the file its name and come no further.
      if ('text' in (await read(sha256))) return await syncFolder(folder)
      await replaceFile(join(folder, sha256), text)
    },
    async sweep(kept) {
      const removed: string[] = []
      for (const name of await namesIn(folder)) {
        if (!OURS.test(name) || kept.has(name)) continue
        await unlink(join(folder, name))
        if (NAME.test(name)) removed.push(name)
      }
      await rmdir(folder).catch(() => {})
      return removed
    },
  }
}

const NAME = /^[0-9a-f]{64}$/
const OURS = /^[0-9a-f]{64}(?:\.[0-9a-f]+\.tmp)?$/

/** What is no file of its own (a link, a pipe that would be waited for) is not there. */
async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return (await lstat(path)).isFile() ? await readFile(path) : undefined
  } catch (error) {
    if (field(error, 'code') === 'ENOENT' || field(error, 'code') === 'ENOTDIR') return undefined
    throw error
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return []
    throw error
  }
}
