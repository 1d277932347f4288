import { isLive, type SessionSummary } from './session.ts'

type Copy = Pick<SessionSummary, 'id' | 'copiedFrom' | 'lastActivityAt' | 'live'>

/**
 * Whether a session need not be listed: nothing was said in it but what was copied from another one that is there, and
 * nobody holds it. Where copies lead in a circle, all of them are listed.
 */
export function isMereCopy(session: Copy, find: (id: string) => Copy | undefined): boolean {
  const passed = new Set<string>()
  let at = session
  for (;;) {
    passed.add(at.id)
    const origin = hasNothingOwn(at) ? find(at.copiedFrom?.id ?? '') : undefined
    if (origin === undefined) return at !== session
    if (passed.has(origin.id)) return false
    at = origin
  }
}

/** Whether what was said at this moment in a session had been said before in the one that it was copied from. */
export function isCopied(
  { copiedFrom }: Pick<SessionSummary, 'copiedFrom'>,
  at: string | undefined,
): boolean {
  if (copiedFrom === undefined) return false
  if (copiedFrom.until === undefined) return true
  return at !== undefined && Date.parse(at) <= Date.parse(copiedFrom.until)
}

/** Whether it is found there, too: the session that it was copied from is here. */
export function isSaidElsewhere(
  session: Pick<SessionSummary, 'copiedFrom'>,
  at: string | undefined,
): boolean {
  return session.copiedFrom?.here === true && isCopied(session, at)
}

/** When a session began to have something of its own: what it says of the time before was paid for elsewhere. */
export function ownSince({
  createdAt,
  copiedFrom,
}: Pick<SessionSummary, 'createdAt' | 'copiedFrom'>): string | undefined {
  return copiedFrom?.until ?? createdAt
}

function hasNothingOwn(session: Copy): boolean {
  const { copiedFrom, lastActivityAt, live } = session
  if (copiedFrom === undefined || isLive(live)) return false
  return lastActivityAt === undefined || isCopied(session, lastActivityAt)
}
