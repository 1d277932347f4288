import { unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { field, string, ThroughlineError } from '#base'
import { findLockHolder, openJournal, readJournal, type Journal } from '#journal'
import { BLOBS, checkWay, CONTEXT_FILE, FINISHING, TRANSCRIPT, type Layout } from './layout.ts'
import { createLineWriter, type LineWriter } from './line-writer.ts'

/** The files of a recording that this process writes. */
export interface RecordingFiles {
  readonly writer: LineWriter
  /** Every line that is there. */
  readonly uuids: Set<string>
  /** The last of them. */
  last: string | null
  close(): Promise<void>
}

const PAUSE_MS = 10

/** Makes the files of a recording, or takes up those that are there. Only this process writes them from then on. */
export async function openRecordingFiles(layout: Layout, large: 'lines' | 'blobs'): Promise<RecordingFiles> {
  await checkWay(layout)
  const journal = await openPatiently(layout)
  try {
    // Whoever finishes it removes blobs that no line needs. It says so first and looks for writers then; a writer
    // takes its file first and looks for it then. So one of the two always sees the other.
    while (await isBeingFinished(layout)) await sleep(PAUSE_MS)
    await hideFromGit(layout)
    await beginAgain(layout)
    const { uuids, last } = await readUuids(layout.path)
    const writer = createLineWriter(journal, { blobsFolder: join(layout.folder, BLOBS), large })
    return { writer, uuids, last, close: () => journal.close() }
  } catch (cause) {
    await journal.close()
    if (cause instanceof ThroughlineError) throw cause
    throw new ThroughlineError('journal-unwritable', `cannot record in ${layout.folder}`, {
      hint: 'Check the free space and the permissions of the folder, then try again.',
      cause,
    })
  }
}

/** Whoever finishes a recording that was left behind holds its files for a moment. */
async function openPatiently(layout: Layout): Promise<Journal> {
  for (;;) {
    const isFinishing = await isBeingFinished(layout)
    try {
      return await openJournal(layout.path)
    } catch (error) {
      const isHeld = error instanceof ThroughlineError && error.code === 'journal-locked'
      if (!isHeld || !(isFinishing || (await isBeingFinished(layout)))) throw error
    }
    await sleep(PAUSE_MS)
  }
}

async function isBeingFinished({ folder }: Layout): Promise<boolean> {
  return (await findLockHolder(join(folder, FINISHING))) !== undefined
}

/** That `context.md` is there says that the recording is over. What its subagents do changes nothing about that. */
async function beginAgain({ folder, path }: Layout): Promise<void> {
  if (path !== join(folder, TRANSCRIPT)) return
  await unlink(join(folder, CONTEXT_FILE)).catch(unless('ENOENT'))
}

/** What agents say is for whoever sits at this machine. Entire keeps its own out of the repository in the same way. */
async function hideFromGit({ folder }: Layout): Promise<void> {
  await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch(unless('EEXIST'))
}

async function readUuids(path: string): Promise<{ uuids: Set<string>; last: string | null }> {
  const uuids = new Set<string>()
  let last: string | null = null
  for await (const item of readJournal(path)) {
    const uuid = item.kind === 'line' ? string(item.value, 'uuid') : undefined
    if (uuid === undefined) continue
    uuids.add(uuid)
    last = uuid
  }
  return { uuids, last }
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (field(error, 'code') !== code) throw error
  }
}
