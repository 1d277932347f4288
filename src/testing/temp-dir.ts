import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of its own for one test; `await using` removes it. */
export interface TempDir {
  readonly path: string
  remove(): Promise<void>
}

/** A process that was told to end may still write something. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const

export async function openTempDir(): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), 'throughline-'))
  return { path, remove: () => rm(path, REMOVAL) }
}
