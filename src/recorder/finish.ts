import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ThroughlineError } from '#base'
import { createBlobStore, findLockHolder, openJournal, readJournal, takeLock, type Journal } from '#journal'
import { blobsOf } from '#model'
import { writeContext } from './context-file.ts'
import {
  BLOBS,
  CONTEXT_FILE,
  findOwner,
  findRecordings,
  FINISHING,
  isSessionId,
  layoutOf,
  metadataFolder,
  namesIn,
  PROMPT_FILE,
  SUBAGENTS,
  type Layout,
} from './layout.ts'
import { findPrompt, hasFile, writePrompt } from './prompt-file.ts'

/** What became of a recording that was to be finished. */
export interface FinishedRecording {
  readonly sessionId: string
  readonly folder: string
  /** `held`: a process writes it, so it was left alone. `failed`: see `failure`. */
  readonly outcome: 'finished' | 'held' | 'failed'
  /** Files of it whose torn tail was set aside. */
  readonly mended: readonly string[]
  /** What was missing and is there now: `prompt.txt`, `context.md`. */
  readonly wrote: readonly string[]
  /** Blobs that no line needs, and that are gone now. */
  readonly swept: number
  readonly failure?: string | undefined
}

/** Recordings that one start looks after, so that it never has much to do. */
const AT_ONE_START = 16

/** Folders in which this process is looking after them: recordings that begin together share it. */
const looking = new Map<string, Promise<void>>()

/**
 * Brings every recording of a folder into the state that it would have, had it ended: whole lines, `prompt.txt`,
 * `context.md`, no blob that nothing refers to. Everything is derived from the lines, and no byte of them is lost.
 * Recordings that a process writes, and sessions of others, are left alone.
 */
export async function finishRecordings(cwd: string): Promise<readonly FinishedRecording[]> {
  const finished: FinishedRecording[] = []
  for (const id of await findRecordings(cwd)) finished.push(await finish(layoutOf(cwd, id)))
  return finished
}

/** Finishes what dead processes left behind, when a recording begins in the folder. Never rejects. */
export async function finishOthers(cwd: string): Promise<void> {
  const look = looking.get(cwd) ?? lookAfter(cwd).finally(() => looking.delete(cwd))
  looking.set(cwd, look)
  await look
}

async function lookAfter(cwd: string): Promise<void> {
  try {
    let left = AT_ONE_START
    for (const id of (await namesIn(metadataFolder(cwd))).filter(isSessionId).toSorted().toReversed()) {
      const layout = layoutOf(cwd, id)
      if (await hasFile(layout, CONTEXT_FILE)) continue
      if ((await findOwner(layout)) === 'recorder') await finish(layout)
      left -= 1
      if (left === 0) return
    }
  } catch {
    // Whatever is the matter there, it is not the matter of the recording that begins.
  }
}

async function finish(layout: Layout): Promise<FinishedRecording> {
  const { sessionId, folder } = layout
  const nothing = { sessionId, folder, mended: [], wrote: [], swept: 0 }
  try {
    if ((await findLockHolder(layout.path)) !== undefined) return { ...nothing, outcome: 'held' }
    const lock = await takeLock(join(folder, FINISHING))
    const journals: Journal[] = []
    try {
      const paths = await journalsOf(layout)
      const mended: string[] = []
      for (const path of paths) {
        const { size } = await stat(path)
        journals.push(await openJournal(path))
        if ((await stat(path)).size !== size) mended.push(path)
      }
      const wrote = await writeMissing(layout)
      return { ...nothing, outcome: 'finished', mended, wrote, swept: await sweep(layout, paths) }
    } finally {
      for (const journal of journals) await journal.close()
      await lock.release()
    }
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'journal-locked') {
      return { ...nothing, outcome: 'held' }
    }
    return { ...nothing, outcome: 'failed', failure: error instanceof Error ? error.message : String(error) }
  }
}

async function journalsOf({ folder, path }: Layout): Promise<readonly string[]> {
  const subagents = join(folder, SUBAGENTS)
  const names = (await namesIn(subagents)).filter((name) => /^agent-[\w-]+\.jsonl$/.test(name))
  return [path, ...names.map((name) => join(subagents, name))]
}

async function writeMissing(layout: Layout): Promise<readonly string[]> {
  const wrote: string[] = []
  if (!(await hasFile(layout, PROMPT_FILE))) {
    const prompt = await findPrompt(layout)
    if (prompt !== undefined) {
      await writePrompt(layout, prompt)
      wrote.push(PROMPT_FILE)
    }
  }
  if (!(await hasFile(layout, CONTEXT_FILE))) {
    await writeContext(layout)
    wrote.push(CONTEXT_FILE)
  }
  return wrote
}

/** A line that cannot be read may refer to any blob, and then none is removed. */
async function sweep({ folder }: Layout, paths: readonly string[]): Promise<number> {
  // What a writer that was killed had not given its name yet.
  for (const name of (await readdir(folder)).filter((each) => UNNAMED.test(each))) {
    await unlink(join(folder, name))
  }
  const kept = new Set<string>()
  for (const path of paths) {
    for await (const item of readJournal(path)) {
      if (item.kind === 'damage') return 0
      for (const { sha256 } of blobsOf(item.value)) kept.add(sha256)
    }
  }
  return (await createBlobStore(join(folder, BLOBS)).sweep(kept)).length
}

const UNNAMED = /^(?:prompt\.txt|context\.md)\.[0-9a-f]{12}\.tmp$/
