import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { field, ThroughlineError } from '#base'
import { openJournal } from './journal.ts'
import type { Journal } from './writer.ts'

/** How long another writer may be busy with a journal that several write in turn. */
const PATIENCE_MS = 5_000
const PAUSE_MS = 10

/**
 * Opens a journal that several processes write in turn, each for a moment. Waits while another one has it; rejects
 * with `journal-locked` when that takes too long.
 */
export async function openSharedJournal(path: string): Promise<Journal> {
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      return await openJournal(path)
    } catch (error) {
      const isBusy = error instanceof ThroughlineError && error.code === 'journal-locked'
      if (!isBusy || waited >= PATIENCE_MS) throw error
    }
    await sleep(PAUSE_MS)
  }
}

/** A text that is another one whenever a journal may hold something else. `none`: it is not there. */
export async function readJournalMark(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return `${ino}-${size}-${mtimeNs}-${ctimeNs}`
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return 'none'
    throw error
  }
}
