import { openJournal } from '#journal'
import type { Attention, EndReason } from '#model'
import { closeAudit } from './audit.ts'
import { toIso } from './clock.ts'
import type { Clock } from './clock.ts'
import type { JournalFact } from './journal-fact.ts'
import { sweepProcesses } from './process-sweep.ts'
import { removeRunFiles } from './run-file.ts'
import { findSessionJournal, readSessionJournal } from './session-journal.ts'

/** What was found where a host had been: what was open and is lapsed now, and why the session is over. */
export interface Burial {
  readonly lapsed: readonly Attention[]
  readonly ended: EndReason
}

const NOTHING: Burial = { lapsed: [], ended: 'host-gone' }

/**
 * Cleans up after a host that died without a word: ends what is left of its agent and its tools, lapses what was open,
 * notes in its journal that it is gone, and takes its files away. Where a host ended as it should, only files are left.
 *
 * Only for whoever holds the lock of the session (`runPaths().lock`).
 */
export async function buryHost(
  home: string,
  sessionId: string,
  { clock }: { readonly clock: Clock },
): Promise<Burial> {
  await sweepProcesses(sessionId)
  // Before the journal: when it fails, all of this is tried again, and only the journal tells what was lapsed.
  await closeAudit(home, sessionId, { clock })
  const path = await findSessionJournal(home, sessionId)
  const burial = path === undefined ? NOTHING : await closeJournal(path, clock)
  await removeRunFiles(home, sessionId)
  return burial
}

async function closeJournal(path: string, clock: Clock): Promise<Burial> {
  // Looked at first: the journal of a session that ended as it should is not opened for writing.
  const seen = await readSessionJournal(path)
  if (!seen.started) return NOTHING
  if (seen.ended && seen.open.length === 0) return { lapsed: [], ended: seen.ended.reason }
  const journal = await openJournal(path)
  try {
    // Again, because opening has cut off what was torn.
    const { open, ended } = await readSessionJournal(path)
    const at = toIso(clock)
    for (const { id } of open) {
      const state = { state: 'lapsed', reason: 'agent-gone', at } as const
      await journal.append({ kind: 'attention.settled', at, id, state } satisfies JournalFact)
    }
    if (!ended) await journal.append({ kind: 'session.ended', at, reason: 'host-gone' } satisfies JournalFact)
    return { lapsed: open, ended: ended?.reason ?? 'host-gone' }
  } finally {
    await journal.close()
  }
}
