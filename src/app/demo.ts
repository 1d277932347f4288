import { chmod, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ThroughlineError } from '#base'
import { BLOG } from './demo-blog.ts'
import { toDemoFiles } from './demo-lines.ts'
import { RECIPES } from './demo-recipes.ts'
import { TIDES } from './demo-tides.ts'

const SAMPLES = [...TIDES, ...BLOG, ...RECIPES]

/** Puts the sample sessions below a folder, or takes them away. */
export async function setDemo(dir: string, wanted: 'on' | 'off', now: number): Promise<void> {
  await (wanted === 'on' ? writeDemo(dir, now) : removeDemo(dir))
}

/**
 * Writes the sample sessions below a folder, the newest a few minutes before `now`. Each file is there whole or not at
 * all; those that are there already stay as they are.
 */
async function writeDemo(dir: string, now: number): Promise<void> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    await chmod(dir, 0o700)
    for (const { path, text } of SAMPLES.flatMap((sample) => toDemoFiles(sample, now))) {
      await writeOnce(join(dir, path), text)
    }
  } catch (cause) {
    throw new ThroughlineError('output-unwritable', 'the sample sessions could not be written', {
      hint: `Check the free space and the permissions of ${dirname(dir)}.`,
      cause,
    })
  }
}

/** Removes the folder of the sample sessions, and nothing else. */
async function removeDemo(dir: string): Promise<void> {
  try {
    await rm(dir, { recursive: true, force: true })
  } catch (cause) {
    throw new ThroughlineError('output-unwritable', 'the sample sessions could not be removed', {
      hint: `Check the permissions of ${dir}, or remove that folder yourself.`,
      cause,
    })
  }
}

async function writeOnce(path: string, text: string): Promise<void> {
  if (await isThere(path)) return
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.tmp`
  await rm(temporary, { force: true })
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
  await rename(temporary, path)
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  )
}
