import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of its own for one test; `await using` removes it. */
export interface TempDir {
  readonly path: string
  remove(): Promise<void>
}

export async function openTempDir(): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), 'throughline-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
