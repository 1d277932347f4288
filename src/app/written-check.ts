import { ThroughlineError } from '#base'
import type { Entry, Loss } from '#model'
import { findUntold, toSaid, type NativeSession, type Said } from '#restore'
import { readWrittenSession } from '#sources'

/** Reads a session as its agent keeps it; nothing when it is not found there. */
export type ReadWritten = (sessionId: string) => Promise<readonly Entry[] | undefined>

/**
 * Everything that a session made for an agent does not carry as it was: what its writer knows, and what is found by
 * reading it back and comparing it with the conversation, block by block.
 */
export async function findLosses(native: NativeSession, said: Said): Promise<readonly Loss[]> {
  const [file] = native.files
  const written = toSaid(await readWrittenSession({ ...native, text: file?.text ?? '' }))
  return [...native.losses, ...findUntold(said, written, native.losses)]
}

/**
 * Reads a session back from where its agent keeps it. Throws `history-not-loaded` when something of the conversation is
 * missing or different there and is not among the losses: whoever continues it would continue with less.
 */
export async function checkWritten(
  { agent, id }: Pick<NativeSession, 'agent' | 'id'>,
  { said, losses }: { readonly said: Said; readonly losses: readonly Loss[] },
  read: ReadWritten,
): Promise<void> {
  const entries = await read(id)
  if (entries === undefined) throw notWhole(`it is not where ${agent} keeps its sessions`, id)
  // A session that its agent has taken in before may have gone on since.
  const untold = findUntold(said, toSaid(entries), losses).filter(({ how }) => how !== 'added')
  const [first] = untold
  if (first === undefined) return
  const more = untold.length === 1 ? '' : `, and ${String(untold.length - 1)} more`
  throw notWhole(`${first.why} (entry ${first.origin.entryId}${more})`, id)
}

function notWhole(why: string, sessionId: string): ThroughlineError {
  return new ThroughlineError(
    'history-not-loaded',
    `session ${sessionId} was written, but is not complete: ${why}`,
    { hint: 'Do not continue in it. The original is unchanged: continue there, or in another agent.' },
  )
}
