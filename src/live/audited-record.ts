import type { Journal } from '#journal'
import type { Audit } from './audit.ts'
import type { JournalFact } from './journal-fact.ts'

/**
 * Puts a fact on disk: in the journal, and in the audit log where it belongs there. Rejects when either is not certain.
 *
 * What is asked and what is decided is in the audit log first. Were it in the journal first and then not in the log, the
 * journal would have to take back a decision, and the first one that it holds is the one that counts.
 */
export function createRecord(
  journal: Pick<Journal, 'append'>,
  audit: Pick<Audit, 'record' | 'takeBack'>,
): (fact: JournalFact) => Promise<unknown> {
  return async (fact) => {
    const first = attentionIn(fact)
    if (first === undefined) return await both(audit.record(fact), journal.append(fact))
    await audit.record(fact)
    try {
      return await journal.append(fact)
    } catch (error) {
      audit.takeBack(first)
      throw error
    }
  }
}

/** The attention that a fact is about, unless it only ends it: an end without an answer takes nothing but away. */
function attentionIn(fact: JournalFact): string | undefined {
  if (fact.kind === 'attention.opened') return fact.attention.id
  return fact.kind === 'attention.settled' && fact.state.state === 'resolved' ? fact.id : undefined
}

/** Waits for both, and then says what went wrong with either. */
async function both(...work: readonly Promise<unknown>[]): Promise<void> {
  const done = await Promise.allSettled(work)
  for (const one of done) if (one.status === 'rejected') throw one.reason
}
